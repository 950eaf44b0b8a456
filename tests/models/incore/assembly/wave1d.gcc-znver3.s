	.text
	.p2align 4
	.globl	rhs_wave1d
	.type	rhs_wave1d, @function
rhs_wave1d:
.LFB0:
	cmpq	%rsi, %rdi
	jge	.L26
	pushq	%rbp
	subq	%rdi, %rsi
	movq	%rdx, %r11
	vmovsd	%xmm0, %xmm0, %xmm1
	movq	%rsp, %rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	leaq	-1(%rsi), %rdx
	movq	%rcx, %rax
	andq	$-32, %rsp
	movq	%rdi, -16(%rsp)
	movq	%rsi, -8(%rsp)
	cmpq	$2, %rdx
	jbe	.L10
	leaq	0(,%rdi,8), %rcx
	shrq	$2, %rsi
	vbroadcastsd	%xmm0, %ymm5
	leaq	-16(%rax,%rcx), %rbx
	leaq	-1(%rsi), %rdx
	leaq	-32(%rax,%rcx), %r10
	leaq	-24(%rax,%rcx), %r9
	movq	%rbx, -24(%rsp)
	leaq	-8(%rax,%rcx), %r15
	leaq	(%rax,%rcx), %r8
	leaq	8(%rax,%rcx), %r13
	leaq	16(%rax,%rcx), %r12
	leaq	24(%rax,%rcx), %rbx
	leaq	32(%rax,%rcx), %r14
	movq	%rsi, -40(%rsp)
	addq	%r11, %rcx
	cmpq	$1, %rdx
	jbe	.L11
	vmovupd	(%r8), %ymm9
	vmovupd	-32(%r8), %ymm11
	leaq	-3(%rsi), %rdx
	addq	$64, %r9
	vmovupd	-24(%r8), %ymm12
	vmovupd	-16(%r8), %ymm13
	andq	$-2, %rdx
	addq	$64, %r10
	vmovupd	-8(%r8), %ymm0
	vbroadcastsd	.LC1(%rip), %ymm2
	leaq	4(%rdx), %rsi
	movl	$2, %edx
	vbroadcastsd	.LC3(%rip), %ymm6
	vbroadcastsd	.LC5(%rip), %ymm3
	movq	%rsi, -32(%rsp)
	vbroadcastsd	.LC7(%rip), %ymm4
	vbroadcastsd	.LC9(%rip), %ymm7
	vbroadcastsd	.LC11(%rip), %ymm8
.L5:
	movq	%rdx, %rsi
	movq	%r9, -48(%rsp)
	movq	%r10, -56(%rsp)
	addq	$64, -24(%rsp)
	vmulpd	%ymm2, %ymm12, %ymm12
	addq	$64, %r15
	addq	$64, %r8
	addq	$64, %r13
	addq	$64, %r12
	addq	$64, %rbx
	addq	$64, %r14
	addq	$64, %rcx
	leaq	2(%rdx), %rdx
	addq	$64, %r9
	addq	$64, %r10
	vfmadd231pd	%ymm6, %ymm11, %ymm12
	vmovupd	-64(%r14), %ymm11
	vfnmadd132pd	%ymm3, %ymm12, %ymm13
	vmovupd	-32(%r13), %ymm12
	vfmadd132pd	%ymm4, %ymm13, %ymm0
	vmovupd	-32(%r12), %ymm13
	vfnmadd231pd	%ymm7, %ymm9, %ymm0
	vfmadd231pd	-64(%r13), %ymm4, %ymm0
	vfnmadd231pd	-64(%r12), %ymm3, %ymm0
	vfmadd231pd	-64(%rbx), %ymm2, %ymm0
	vfnmadd231pd	%ymm8, %ymm11, %ymm0
	vmulpd	%ymm5, %ymm0, %ymm0
	vmovupd	%ymm0, -64(%rcx)
	vmulpd	-64(%r13), %ymm2, %ymm0
	vfmadd132pd	%ymm6, %ymm0, %ymm9
	vmovapd	%ymm9, %ymm0
	vfnmadd231pd	-64(%r12), %ymm3, %ymm0
	vmovupd	-32(%r14), %ymm9
	vfmadd231pd	-64(%rbx), %ymm4, %ymm0
	vmovapd	%ymm0, %ymm10
	vmovupd	-32(%rbx), %ymm0
	vfnmadd231pd	%ymm7, %ymm11, %ymm10
	vfmadd231pd	%ymm4, %ymm12, %ymm10
	vfnmadd231pd	%ymm3, %ymm13, %ymm10
	vfmadd231pd	%ymm2, %ymm0, %ymm10
	vfnmadd231pd	%ymm8, %ymm9, %ymm10
	vmulpd	%ymm10, %ymm5, %ymm10
	vmovupd	%ymm10, -32(%rcx)
	cmpq	%rdx, -32(%rsp)
	jne	.L5
	movq	-56(%rsp), %r10
	movq	-48(%rsp), %r9
.L4:
	movq	%rdi, -32(%rsp)
	movq	-24(%rsp), %rdi
	movq	%r11, -24(%rsp)
	movq	-40(%rsp), %r11
	xorl	%edx, %edx
	.p2align 4
	.p2align 3
.L6:
	vmulpd	(%r9,%rdx), %ymm2, %ymm0
	incq	%rsi
	vfmadd231pd	(%r10,%rdx), %ymm6, %ymm0
	vfnmadd231pd	(%rdi,%rdx), %ymm3, %ymm0
	vfmadd231pd	(%r15,%rdx), %ymm4, %ymm0
	vfnmadd231pd	(%r8,%rdx), %ymm7, %ymm0
	vfmadd231pd	0(%r13,%rdx), %ymm4, %ymm0
	vfnmadd231pd	(%r12,%rdx), %ymm3, %ymm0
	vfmadd231pd	(%rbx,%rdx), %ymm2, %ymm0
	vfnmadd231pd	(%r14,%rdx), %ymm8, %ymm0
	vmulpd	%ymm5, %ymm0, %ymm0
	vmovupd	%ymm0, (%rcx,%rdx)
	addq	$32, %rdx
	cmpq	%r11, %rsi
	jb	.L6
	movq	-8(%rsp), %rbx
	movq	-32(%rsp), %rdi
	movq	-24(%rsp), %r11
	testb	$3, %bl
	je	.L23
	movq	%rbx, %rdx
	andq	$-4, %rdx
	addq	%rdx, %rdi
	vzeroupper
.L3:
	movq	-8(%rsp), %rcx
	subq	%rdx, %rcx
	cmpq	$1, %rcx
	je	.L8
	movq	-16(%rsp), %rbx
	vmovddup	.LC1(%rip), %xmm2
	vmovddup	%xmm1, %xmm5
	vmovddup	.LC3(%rip), %xmm0
	vmovddup	.LC7(%rip), %xmm4
	vmovddup	.LC9(%rip), %xmm6
	addq	%rbx, %rdx
	vmulpd	-24(%rax,%rdx,8), %xmm2, %xmm3
	vfmadd132pd	-32(%rax,%rdx,8), %xmm3, %xmm0
	vmovddup	.LC5(%rip), %xmm3
	vfnmadd231pd	-16(%rax,%rdx,8), %xmm3, %xmm0
	vfmadd231pd	-8(%rax,%rdx,8), %xmm4, %xmm0
	vfnmadd231pd	(%rax,%rdx,8), %xmm6, %xmm0
	vfmadd132pd	8(%rax,%rdx,8), %xmm0, %xmm4
	vmovddup	.LC11(%rip), %xmm0
	vfnmadd132pd	16(%rax,%rdx,8), %xmm4, %xmm3
	vfmadd132pd	24(%rax,%rdx,8), %xmm3, %xmm2
	vfnmadd132pd	32(%rax,%rdx,8), %xmm2, %xmm0
	vmulpd	%xmm5, %xmm0, %xmm0
	vmovupd	%xmm0, (%r11,%rdx,8)
	testb	$1, %cl
	je	.L24
	andq	$-2, %rcx
	addq	%rcx, %rdi
.L8:
	vmovsd	.LC1(%rip), %xmm2
	vmovsd	-32(%rax,%rdi,8), %xmm7
	vmulsd	-24(%rax,%rdi,8), %xmm2, %xmm0
	vmovsd	.LC5(%rip), %xmm3
	vmovsd	.LC7(%rip), %xmm4
	vmovsd	(%rax,%rdi,8), %xmm6
	vmovsd	32(%rax,%rdi,8), %xmm5
	vfmadd231sd	.LC3(%rip), %xmm7, %xmm0
	vfnmadd231sd	-16(%rax,%rdi,8), %xmm3, %xmm0
	vfmadd231sd	-8(%rax,%rdi,8), %xmm4, %xmm0
	vfnmadd231sd	.LC9(%rip), %xmm6, %xmm0
	vfmadd132sd	8(%rax,%rdi,8), %xmm0, %xmm4
	vfnmadd132sd	16(%rax,%rdi,8), %xmm4, %xmm3
	vfmadd132sd	24(%rax,%rdi,8), %xmm3, %xmm2
	vfnmadd231sd	.LC11(%rip), %xmm5, %xmm2
	vmulsd	%xmm2, %xmm1, %xmm1
	vmovsd	%xmm1, (%r11,%rdi,8)
.L24:
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
.L23:
	vzeroupper
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
.L26:
	ret
.L10:
	xorl	%edx, %edx
	jmp	.L3
.L11:
	vbroadcastsd	.LC1(%rip), %ymm2
	vbroadcastsd	.LC3(%rip), %ymm6
	xorl	%esi, %esi
	vbroadcastsd	.LC5(%rip), %ymm3
	vbroadcastsd	.LC7(%rip), %ymm4
	vbroadcastsd	.LC9(%rip), %ymm7
	vbroadcastsd	.LC11(%rip), %ymm8
	jmp	.L4
.LFE0:
	.size	rhs_wave1d, .-rhs_wave1d
	.section	.rodata.cst8,"aM",@progbits,8
	.align 8
.LC1:
	.long	0
	.long	1080033280
	.align 8
.LC3:
	.long	0
	.long	-1071513600
	.align 8
.LC5:
	.long	0
	.long	1083146240
	.align 8
.LC7:
	.long	0
	.long	1086291968
	.align 8
.LC9:
	.long	0
	.long	1087112960
	.align 8
.LC11:
	.long	0
	.long	1075970048
