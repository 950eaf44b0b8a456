	.text
	.p2align 4
	.globl	lc_jil
	.type	lc_jil, @function
lc_jil:
.LFB0:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	andq	$-64, %rsp
	movq	%rsi, -48(%rsp)
	movq	%rdx, -24(%rsp)
	movq	%rcx, -8(%rsp)
	movq	%r8, -32(%rsp)
	movq	%r9, -16(%rsp)
	movq	32(%rbp), %r15
	cmpq	%rsi, %rdi
	jge	.L19
	subq	%rdi, %rsi
	leaq	-1(%rsi), %rax
	movq	%rdi, -40(%rsp)
	vmovsd	%xmm0, %xmm0, %xmm22
	movq	%rsi, %rcx
	cmpq	$6, %rax
	jbe	.L8
	movq	-8(%rsp), %rax
	movq	%rdx, %r10
	leaq	0(,%rdi,8), %rdx
	leaq	(%rax,%rdx), %r9
	movq	16(%rbp), %r14
	movq	-16(%rsp), %rax
	movq	24(%rbp), %r13
	movq	40(%rbp), %rbx
	movq	48(%rbp), %r11
	shrq	$3, %rsi
	vbroadcastsd	.LC1(%rip), %zmm19
	vbroadcastsd	.LC3(%rip), %zmm18
	vbroadcastsd	.LC5(%rip), %zmm17
	vbroadcastsd	.LC7(%rip), %zmm16
	vbroadcastsd	.LC9(%rip), %zmm15
	vbroadcastsd	.LC11(%rip), %zmm14
	vbroadcastsd	.LC13(%rip), %zmm13
	vbroadcastsd	.LC15(%rip), %zmm12
	vbroadcastsd	.LC17(%rip), %zmm11
	vbroadcastsd	.LC19(%rip), %zmm10
	vbroadcastsd	.LC21(%rip), %zmm9
	vbroadcastsd	.LC23(%rip), %zmm8
	vbroadcastsd	.LC25(%rip), %zmm7
	vbroadcastsd	.LC27(%rip), %zmm6
	vbroadcastsd	.LC29(%rip), %zmm5
	vbroadcastsd	.LC31(%rip), %zmm4
	addq	%rdx, %r14
	addq	%rdx, %r13
	leaq	(%r15,%rdx), %r12
	addq	%rdx, %rbx
	addq	%rdx, %r11
	addq	%rdx, %r10
	addq	%rdx, %r8
	vbroadcastsd	%xmm0, %zmm3
	addq	%rax, %rdx
	salq	$6, %rsi
	xorl	%eax, %eax
	.p2align 4,,10
	.p2align 3
.L4:
	vmovupd	0(%r13,%rax), %zmm21
	vmovupd	(%r14,%rax), %zmm20
	vmulpd	%zmm19, %zmm21, %zmm2
	vmulpd	%zmm17, %zmm21, %zmm1
	vmulpd	%zmm15, %zmm21, %zmm0
	vmulpd	%zmm13, %zmm21, %zmm21
	vfmadd231pd	%zmm18, %zmm20, %zmm2
	vfmadd231pd	%zmm16, %zmm20, %zmm1
	vfmadd231pd	%zmm14, %zmm20, %zmm0
	vfmadd231pd	%zmm12, %zmm20, %zmm21
	vmovupd	(%r12,%rax), %zmm20
	vfmadd231pd	%zmm11, %zmm20, %zmm2
	vfmadd231pd	%zmm10, %zmm20, %zmm1
	vfmadd231pd	%zmm8, %zmm20, %zmm21
	vfmadd231pd	%zmm9, %zmm20, %zmm0
	vmovupd	(%rbx,%rax), %zmm20
	vfmadd231pd	%zmm7, %zmm20, %zmm2
	vfmadd231pd	%zmm6, %zmm20, %zmm1
	vfmadd231pd	%zmm5, %zmm20, %zmm0
	vfmadd132pd	%zmm4, %zmm21, %zmm20
	vmovupd	(%r11,%rax), %zmm21
	vfmadd132pd	%zmm3, %zmm21, %zmm2
	vfmadd132pd	%zmm3, %zmm21, %zmm1
	vfmadd132pd	%zmm3, %zmm21, %zmm0
	vfmadd132pd	%zmm3, %zmm21, %zmm20
	vmovupd	%zmm2, (%r10,%rax)
	vmovupd	%zmm1, (%r9,%rax)
	vmovupd	%zmm0, (%r8,%rax)
	vmovupd	%zmm20, (%rdx,%rax)
	addq	$64, %rax
	cmpq	%rsi, %rax
	jne	.L4
	movq	%rcx, %rax
	andq	$-8, %rax
	addq	%rax, %rdi
	testb	$7, %cl
	je	.L18
.L3:
	subq	%rax, %rcx
	leaq	-1(%rcx), %rdx
	cmpq	$2, %rdx
	jbe	.L6
	movq	-40(%rsp), %rbx
	vbroadcastsd	%xmm22, %ymm5
	addq	%rbx, %rax
	movq	16(%rbp), %rbx
	leaq	0(,%rax,8), %rdx
	vmovupd	(%rbx,%rax,8), %ymm4
	movq	24(%rbp), %rbx
	vmovupd	(%rbx,%rax,8), %ymm6
	movq	40(%rbp), %rax
	vmulpd	.LC1(%rip){1to4}, %ymm6, %ymm3
	vmulpd	.LC5(%rip){1to4}, %ymm6, %ymm2
	vmulpd	.LC9(%rip){1to4}, %ymm6, %ymm0
	vmulpd	.LC13(%rip){1to4}, %ymm6, %ymm6
	vfmadd231pd	.LC3(%rip){1to4}, %ymm4, %ymm3
	vfmadd231pd	.LC7(%rip){1to4}, %ymm4, %ymm2
	vfmadd231pd	.LC11(%rip){1to4}, %ymm4, %ymm0
	vfmadd231pd	.LC15(%rip){1to4}, %ymm4, %ymm6
	vmovupd	(%r15,%rdx), %ymm4
	vfmadd231pd	.LC17(%rip){1to4}, %ymm4, %ymm3
	vfmadd231pd	.LC19(%rip){1to4}, %ymm4, %ymm2
	vfmadd231pd	.LC23(%rip){1to4}, %ymm4, %ymm6
	vfmadd231pd	.LC21(%rip){1to4}, %ymm4, %ymm0
	vmovupd	(%rax,%rdx), %ymm4
	movq	48(%rbp), %rax
	vfmadd231pd	.LC25(%rip){1to4}, %ymm4, %ymm3
	vfmadd231pd	.LC27(%rip){1to4}, %ymm4, %ymm2
	vfmadd231pd	.LC29(%rip){1to4}, %ymm4, %ymm0
	vfmadd132pd	.LC31(%rip){1to4}, %ymm6, %ymm4
	vmovupd	(%rax,%rdx), %ymm6
	movq	-24(%rsp), %rax
	vfmadd132pd	%ymm5, %ymm6, %ymm3
	vfmadd132pd	%ymm5, %ymm6, %ymm2
	vfmadd132pd	%ymm5, %ymm6, %ymm0
	vfmadd132pd	%ymm5, %ymm6, %ymm4
	vmovupd	%ymm3, (%rax,%rdx)
	movq	-8(%rsp), %rax
	vmovupd	%ymm2, (%rax,%rdx)
	movq	-32(%rsp), %rax
	vmovupd	%ymm0, (%rax,%rdx)
	movq	-16(%rsp), %rax
	vmovupd	%ymm4, (%rax,%rdx)
	movq	%rcx, %rax
	andq	$-4, %rax
	addq	%rax, %rdi
	andl	$3, %ecx
	je	.L18
.L6:
	movq	16(%rbp), %rcx
	vmovsd	.LC1(%rip), %xmm11
	vmovsd	(%rcx,%rdi,8), %xmm4
	movq	24(%rbp), %rcx
	vmovsd	.LC5(%rip), %xmm12
	vmovsd	(%rcx,%rdi,8), %xmm5
	vmovsd	.LC9(%rip), %xmm10
	vmovsd	.LC13(%rip), %xmm14
	vmulsd	%xmm11, %xmm5, %xmm3
	vmulsd	%xmm12, %xmm5, %xmm2
	vmulsd	%xmm10, %xmm5, %xmm0
	vmulsd	%xmm14, %xmm5, %xmm5
	vmovsd	.LC3(%rip), %xmm9
	vmovsd	.LC7(%rip), %xmm8
	vmovsd	.LC11(%rip), %xmm7
	vmovsd	.LC15(%rip), %xmm13
	vfmadd231sd	%xmm9, %xmm4, %xmm3
	vfmadd231sd	%xmm13, %xmm4, %xmm5
	vfmadd231sd	%xmm8, %xmm4, %xmm2
	vfmadd231sd	%xmm7, %xmm4, %xmm0
	vmovsd	.LC17(%rip), %xmm6
	vmovsd	(%r15,%rdi,8), %xmm4
	vmovsd	.LC19(%rip), %xmm15
	vmovsd	.LC21(%rip), %xmm16
	vmovsd	.LC23(%rip), %xmm17
	vfmadd231sd	%xmm6, %xmm4, %xmm3
	vfmadd231sd	%xmm15, %xmm4, %xmm2
	vfmadd231sd	%xmm16, %xmm4, %xmm0
	vfmadd132sd	%xmm17, %xmm5, %xmm4
	movq	40(%rbp), %rcx
	vmovsd	.LC25(%rip), %xmm5
	vmovsd	.LC27(%rip), %xmm18
	vmovsd	.LC29(%rip), %xmm19
	vmovsd	%xmm4, %xmm4, %xmm21
	vmovsd	.LC31(%rip), %xmm20
	vmovsd	(%rcx,%rdi,8), %xmm4
	movq	48(%rbp), %rbx
	vfmadd231sd	%xmm5, %xmm4, %xmm3
	vfmadd231sd	%xmm18, %xmm4, %xmm2
	vfmadd231sd	%xmm19, %xmm4, %xmm0
	vfmadd132sd	%xmm20, %xmm21, %xmm4
	vmovsd	(%rbx,%rdi,8), %xmm21
	movq	-24(%rsp), %rcx
	vfmadd132sd	%xmm22, %xmm21, %xmm3
	vfmadd132sd	%xmm22, %xmm21, %xmm2
	vfmadd132sd	%xmm22, %xmm21, %xmm0
	vfmadd132sd	%xmm22, %xmm21, %xmm4
	movq	-8(%rsp), %rbx
	movq	-32(%rsp), %rsi
	movq	-16(%rsp), %r11
	leaq	0(,%rdi,8), %rax
	vmovsd	%xmm3, (%rcx,%rax)
	vmovsd	%xmm2, (%rbx,%rax)
	vmovsd	%xmm0, (%rsi,%rax)
	vmovsd	%xmm4, (%r11,%rax)
	movq	-48(%rsp), %r14
	leaq	1(%rdi), %rdx
	cmpq	%rdx, %r14
	jle	.L18
	movq	16(%rbp), %r9
	movq	40(%rbp), %r10
	vmovsd	8(%r9,%rax), %xmm4
	movq	24(%rbp), %r9
	addq	$2, %rdi
	vmovsd	8(%r9,%rax), %xmm21
	movq	48(%rbp), %r9
	vmulsd	%xmm11, %xmm21, %xmm3
	vmulsd	%xmm12, %xmm21, %xmm2
	vmulsd	%xmm10, %xmm21, %xmm0
	vmulsd	%xmm14, %xmm21, %xmm21
	vfmadd231sd	%xmm9, %xmm4, %xmm3
	vfmadd231sd	%xmm8, %xmm4, %xmm2
	vfmadd231sd	%xmm7, %xmm4, %xmm0
	vfmadd231sd	%xmm13, %xmm4, %xmm21
	vmovsd	8(%r15,%rax), %xmm4
	vfmadd231sd	%xmm6, %xmm4, %xmm3
	vfmadd231sd	%xmm15, %xmm4, %xmm2
	vfmadd231sd	%xmm17, %xmm4, %xmm21
	vfmadd231sd	%xmm16, %xmm4, %xmm0
	vmovsd	8(%r10,%rax), %xmm4
	vfmadd231sd	%xmm5, %xmm4, %xmm3
	vfmadd231sd	%xmm18, %xmm4, %xmm2
	vfmadd231sd	%xmm19, %xmm4, %xmm0
	vfmadd132sd	%xmm20, %xmm21, %xmm4
	vmovsd	8(%r9,%rax), %xmm21
	vfmadd132sd	%xmm22, %xmm21, %xmm3
	vfmadd132sd	%xmm22, %xmm21, %xmm2
	vfmadd132sd	%xmm22, %xmm21, %xmm0
	vfmadd132sd	%xmm22, %xmm21, %xmm4
	vmovsd	%xmm3, 8(%rcx,%rax)
	vmovsd	%xmm2, 8(%rbx,%rax)
	vmovsd	%xmm0, 8(%rsi,%rax)
	vmovsd	%xmm4, 8(%r11,%rax)
	cmpq	%rdi, %r14
	jle	.L18
	movq	16(%rbp), %rdi
	vmovsd	%xmm22, %xmm22, %xmm1
	vmovsd	16(%rdi,%rax), %xmm0
	movq	24(%rbp), %rdi
	vmovsd	16(%rdi,%rax), %xmm2
	vmulsd	%xmm11, %xmm2, %xmm11
	vmulsd	%xmm12, %xmm2, %xmm12
	vmulsd	%xmm10, %xmm2, %xmm10
	vmulsd	%xmm14, %xmm2, %xmm2
	vfmadd132sd	%xmm0, %xmm11, %xmm9
	vfmadd132sd	%xmm0, %xmm12, %xmm8
	vfmadd132sd	%xmm0, %xmm10, %xmm7
	vfmadd231sd	%xmm13, %xmm0, %xmm2
	vmovsd	16(%r15,%rax), %xmm0
	vfmadd132sd	%xmm0, %xmm9, %xmm6
	vfmadd132sd	%xmm0, %xmm8, %xmm15
	vfmadd132sd	%xmm0, %xmm7, %xmm16
	vfmadd231sd	%xmm17, %xmm0, %xmm2
	vmovsd	16(%r10,%rax), %xmm0
	vfmadd132sd	%xmm0, %xmm6, %xmm5
	vfmadd132sd	%xmm0, %xmm15, %xmm18
	vfmadd132sd	%xmm0, %xmm16, %xmm19
	vfmadd132sd	%xmm20, %xmm2, %xmm0
	vmovsd	16(%r9,%rax), %xmm2
	vfmadd132sd	%xmm22, %xmm2, %xmm5
	vfmadd132sd	%xmm22, %xmm2, %xmm18
	vfmadd132sd	%xmm22, %xmm2, %xmm19
	vfmadd132sd	%xmm0, %xmm2, %xmm1
	vmovsd	%xmm5, 16(%rcx,%rax)
	vmovsd	%xmm18, 16(%rbx,%rax)
	vmovsd	%xmm19, 16(%rsi,%rax)
	vmovsd	%xmm1, 16(%r11,%rax)
	vzeroupper
	leaq	-40(%rbp), %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	ret
	.p2align 4,,10
	.p2align 3
.L18:
	vzeroupper
.L19:
	leaq	-40(%rbp), %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	ret
.L8:
	xorl	%eax, %eax
	jmp	.L3
.LFE0:
	.size	lc_jil, .-lc_jil
	.section	.rodata.cst8,"aM",@progbits,8
	.align 8
.LC1:
	.long	24654901
	.long	-1079729303
	.align 8
.LC3:
	.long	-1406635618
	.long	1069346184
	.align 8
.LC5:
	.long	-1284819095
	.long	1070234484
	.align 8
.LC7:
	.long	1983409919
	.long	1070465099
	.align 8
.LC9:
	.long	1847402786
	.long	1071250924
	.align 8
.LC11:
	.long	-1924382107
	.long	1070316602
	.align 8
.LC13:
	.long	1800204581
	.long	1071175721
	.align 8
.LC15:
	.long	293668942
	.long	1070348315
	.align 8
.LC17:
	.long	1018671866
	.long	1067084784
	.align 8
.LC19:
	.long	-1078809664
	.long	-1079476038
	.align 8
.LC21:
	.long	1067786764
	.long	1070084697
	.align 8
.LC23:
	.long	200444598
	.long	1070926793
	.align 8
.LC25:
	.long	761842466
	.long	-1081849625
	.align 8
.LC27:
	.long	1351510305
	.long	1066430140
	.align 8
.LC29:
	.long	-1765417962
	.long	-1080507599
	.align 8
.LC31:
	.long	0
	.long	1068498944
