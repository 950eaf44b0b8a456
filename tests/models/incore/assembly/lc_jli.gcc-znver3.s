	.text
	.p2align 4
	.globl	lc_jli
	.type	lc_jli, @function
lc_jli:
.LFB0:
	pushq	%rbp
	movq	%rsi, %rax
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%rsp, %rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	movq	16(%rbp), %r11
	movq	24(%rbp), %r10
	andq	$-32, %rsp
	movq	32(%rbp), %rcx
	cmpq	%rax, %rdi
	jge	.L20
	subq	%rdi, %rax
	vmovsd	%xmm0, %xmm0, %xmm1
	movq	%rdi, -16(%rsp)
	movq	%rax, -8(%rsp)
	decq	%rax
	cmpq	$2, %rax
	jbe	.L8
	movq	48(%rbp), %rbx
	leaq	0(,%rdi,8), %rax
	movq	40(%rbp), %r12
	movq	%rsi, -72(%rsp)
	leaq	(%r11,%rax), %r15
	leaq	(%r10,%rax), %r14
	leaq	(%rcx,%rax), %r13
	vbroadcastsd	.LC1(%rip), %ymm15
	vbroadcastsd	.LC3(%rip), %ymm14
	vbroadcastsd	.LC5(%rip), %ymm13
	vbroadcastsd	%xmm0, %ymm2
	vbroadcastsd	.LC7(%rip), %ymm12
	vbroadcastsd	.LC9(%rip), %ymm11
	addq	%rax, %rbx
	addq	%rax, %r12
	vbroadcastsd	.LC11(%rip), %ymm10
	vbroadcastsd	.LC13(%rip), %ymm9
	movq	%rbx, -32(%rsp)
	leaq	(%rsi,%rax), %rbx
	vbroadcastsd	.LC15(%rip), %ymm8
	vbroadcastsd	.LC17(%rip), %ymm7
	movq	%rbx, -24(%rsp)
	leaq	(%rdx,%rax), %rbx
	vbroadcastsd	.LC19(%rip), %ymm6
	movq	%rbx, -40(%rsp)
	leaq	(%r8,%rax), %rbx
	movq	-40(%rsp), %rsi
	movq	%rdx, -40(%rsp)
	movq	%rbx, -48(%rsp)
	leaq	(%r9,%rax), %rbx
	movq	-8(%rsp), %rax
	movq	%rbx, -56(%rsp)
	movq	-24(%rsp), %rdx
	movq	%r8, -24(%rsp)
	movq	-32(%rsp), %rbx
	movq	%rdi, -32(%rsp)
	vbroadcastsd	.LC21(%rip), %ymm5
	shrq	$2, %rax
	movq	-48(%rsp), %rdi
	vbroadcastsd	.LC23(%rip), %ymm4
	vmovsd	%xmm0, -48(%rsp)
	salq	$5, %rax
	vbroadcastsd	.LC31(%rip), %ymm3
	movq	%rax, -64(%rsp)
	movq	-56(%rsp), %r8
	movq	%r9, -56(%rsp)
	movq	-64(%rsp), %r9
	xorl	%eax, %eax
	.p2align 4
	.p2align 3
.L4:
	vmulpd	(%r14,%rax), %ymm15, %ymm0
	vmovupd	(%r15,%rax), %ymm1
	vfmadd231pd	(%r15,%rax), %ymm14, %ymm0
	vfmadd231pd	0(%r13,%rax), %ymm13, %ymm0
	vfmadd231pd	(%r12,%rax), %ymm12, %ymm0
	vfmadd213pd	(%rbx,%rax), %ymm2, %ymm0
	vmovupd	%ymm0, (%rdx,%rax)
	vmulpd	(%r14,%rax), %ymm11, %ymm0
	vfmadd231pd	(%r15,%rax), %ymm10, %ymm0
	vfmadd231pd	0(%r13,%rax), %ymm9, %ymm0
	vfmadd231pd	(%r12,%rax), %ymm8, %ymm0
	vfmadd213pd	(%rbx,%rax), %ymm2, %ymm0
	vmovupd	%ymm0, (%rsi,%rax)
	vmulpd	(%r14,%rax), %ymm7, %ymm0
	vfmadd231pd	(%r15,%rax), %ymm6, %ymm0
	vfmadd231pd	0(%r13,%rax), %ymm5, %ymm0
	vfmadd231pd	(%r12,%rax), %ymm4, %ymm0
	vfmadd213pd	(%rbx,%rax), %ymm2, %ymm0
	vmovupd	%ymm0, (%rdi,%rax)
	vmovupd	(%r14,%rax), %ymm0
	vmulpd	.LC24(%rip), %ymm0, %ymm0
	vfmadd231pd	.LC26(%rip), %ymm1, %ymm0
	vmovupd	0(%r13,%rax), %ymm1
	vfmadd231pd	.LC28(%rip), %ymm1, %ymm0
	vfmadd231pd	(%r12,%rax), %ymm3, %ymm0
	vfmadd213pd	(%rbx,%rax), %ymm2, %ymm0
	vmovupd	%ymm0, (%r8,%rax)
	addq	$32, %rax
	cmpq	%r9, %rax
	jne	.L4
	movq	-8(%rsp), %rax
	vmovsd	-48(%rsp), %xmm1
	movq	-32(%rsp), %rdi
	movq	-72(%rsp), %rsi
	movq	-40(%rsp), %rdx
	movq	-24(%rsp), %r8
	movq	-56(%rsp), %r9
	testb	$3, %al
	je	.L19
	andq	$-4, %rax
	addq	%rax, %rdi
	vzeroupper
.L3:
	movq	-8(%rsp), %rbx
	subq	%rax, %rbx
	cmpq	$1, %rbx
	je	.L6
	movq	-16(%rsp), %r14
	vmovddup	.LC1(%rip), %xmm3
	vmovddup	%xmm1, %xmm0
	vmovddup	.LC3(%rip), %xmm2
	vmovddup	.LC5(%rip), %xmm7
	movq	40(%rbp), %r15
	vmovddup	.LC7(%rip), %xmm6
	vmovddup	.LC9(%rip), %xmm8
	addq	%r14, %rax
	movq	48(%rbp), %r14
	salq	$3, %rax
	vmovupd	(%r10,%rax), %xmm5
	vmovupd	(%r11,%rax), %xmm4
	vmulpd	%xmm3, %xmm5, %xmm3
	vmulpd	%xmm8, %xmm5, %xmm8
	vfmadd132pd	%xmm4, %xmm3, %xmm2
	vmovupd	(%rcx,%rax), %xmm3
	vfmadd132pd	%xmm3, %xmm2, %xmm7
	vmovupd	(%r15,%rax), %xmm2
	vfmadd132pd	%xmm2, %xmm7, %xmm6
	vmovupd	(%r14,%rax), %xmm7
	vfmadd132pd	%xmm0, %xmm7, %xmm6
	vmovupd	%xmm6, (%rsi,%rax)
	vmovddup	.LC11(%rip), %xmm6
	vfmadd132pd	%xmm4, %xmm8, %xmm6
	vmovddup	.LC13(%rip), %xmm8
	vfmadd132pd	%xmm3, %xmm6, %xmm8
	vmovddup	.LC15(%rip), %xmm6
	vfmadd132pd	%xmm2, %xmm8, %xmm6
	vmovddup	.LC17(%rip), %xmm8
	vfmadd132pd	%xmm0, %xmm7, %xmm6
	vmovupd	%xmm6, (%rdx,%rax)
	vmovddup	.LC19(%rip), %xmm6
	vmulpd	%xmm8, %xmm5, %xmm8
	vfmadd132pd	%xmm4, %xmm8, %xmm6
	vmovddup	.LC21(%rip), %xmm8
	vfmadd132pd	%xmm3, %xmm6, %xmm8
	vmovddup	.LC23(%rip), %xmm6
	vfmadd132pd	%xmm2, %xmm8, %xmm6
	vfmadd132pd	%xmm0, %xmm7, %xmm6
	vmovupd	%xmm6, (%r8,%rax)
	vmovddup	.LC25(%rip), %xmm6
	vmulpd	%xmm6, %xmm5, %xmm5
	vmovddup	.LC27(%rip), %xmm6
	vfmadd132pd	%xmm6, %xmm5, %xmm4
	vmovddup	.LC29(%rip), %xmm5
	vfmadd132pd	%xmm5, %xmm4, %xmm3
	vmovddup	.LC31(%rip), %xmm4
	vfmadd132pd	%xmm4, %xmm3, %xmm2
	vfmadd132pd	%xmm2, %xmm7, %xmm0
	vmovupd	%xmm0, (%r9,%rax)
	testb	$1, %bl
	je	.L20
	andq	$-2, %rbx
	addq	%rbx, %rdi
.L6:
	salq	$3, %rdi
	movq	40(%rbp), %rax
	vmovsd	(%r10,%rdi), %xmm6
	vmovsd	(%r11,%rdi), %xmm5
	vmulsd	.LC1(%rip), %xmm6, %xmm0
	vmovsd	(%rcx,%rdi), %xmm4
	vmovsd	(%rax,%rdi), %xmm2
	movq	48(%rbp), %rax
	vfmadd231sd	.LC3(%rip), %xmm5, %xmm0
	vmovsd	(%rax,%rdi), %xmm3
	vfmadd231sd	.LC5(%rip), %xmm4, %xmm0
	vfmadd231sd	.LC7(%rip), %xmm2, %xmm0
	vfmadd132sd	%xmm1, %xmm3, %xmm0
	vmovsd	%xmm0, (%rsi,%rdi)
	vmulsd	.LC9(%rip), %xmm6, %xmm0
	vfmadd231sd	.LC11(%rip), %xmm5, %xmm0
	vfmadd231sd	.LC13(%rip), %xmm4, %xmm0
	vfmadd231sd	.LC15(%rip), %xmm2, %xmm0
	vfmadd132sd	%xmm1, %xmm3, %xmm0
	vmovsd	%xmm0, (%rdx,%rdi)
	vmulsd	.LC17(%rip), %xmm6, %xmm0
	vmulsd	.LC25(%rip), %xmm6, %xmm6
	vfmadd231sd	.LC19(%rip), %xmm5, %xmm0
	vfmadd132sd	.LC27(%rip), %xmm6, %xmm5
	vfmadd231sd	.LC21(%rip), %xmm4, %xmm0
	vfmadd132sd	.LC29(%rip), %xmm5, %xmm4
	vfmadd231sd	.LC23(%rip), %xmm2, %xmm0
	vfmadd132sd	.LC31(%rip), %xmm4, %xmm2
	vfmadd132sd	%xmm1, %xmm3, %xmm0
	vfmadd132sd	%xmm2, %xmm3, %xmm1
	vmovsd	%xmm0, (%r8,%rdi)
	vmovsd	%xmm1, (%r9,%rdi)
.L20:
	leaq	-40(%rbp), %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	ret
	.p2align 4
	.p2align 3
.L19:
	vzeroupper
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
	.size	lc_jli, .-lc_jli
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
	.long	1018671866
	.long	1067084784
	.align 8
.LC7:
	.long	761842466
	.long	-1081849625
	.align 8
.LC9:
	.long	-1284819095
	.long	1070234484
	.align 8
.LC11:
	.long	1983409919
	.long	1070465099
	.align 8
.LC13:
	.long	-1078809664
	.long	-1079476038
	.align 8
.LC15:
	.long	1351510305
	.long	1066430140
	.align 8
.LC17:
	.long	1847402786
	.long	1071250924
	.align 8
.LC19:
	.long	-1924382107
	.long	1070316602
	.align 8
.LC21:
	.long	1067786764
	.long	1070084697
	.align 8
.LC23:
	.long	-1765417962
	.long	-1080507599
	.section	.rodata.cst32,"aM",@progbits,32
	.align 32
.LC24:
	.long	1800204581
	.long	1071175721
	.long	1800204581
	.long	1071175721
	.long	1800204581
	.long	1071175721
	.long	1800204581
	.long	1071175721
	.set	.LC25,.LC24
	.align 32
.LC26:
	.long	293668942
	.long	1070348315
	.long	293668942
	.long	1070348315
	.long	293668942
	.long	1070348315
	.long	293668942
	.long	1070348315
	.set	.LC27,.LC26
	.align 32
.LC28:
	.long	200444598
	.long	1070926793
	.long	200444598
	.long	1070926793
	.long	200444598
	.long	1070926793
	.long	200444598
	.long	1070926793
	.set	.LC29,.LC28
	.section	.rodata.cst8
	.align 8
.LC31:
	.long	0
	.long	1068498944
