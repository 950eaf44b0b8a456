	.text
	.p2align 4
	.globl	rhs_heat2d
	.type	rhs_heat2d, @function
rhs_heat2d:
.LFB1:
	pushq	%rbp
	vmovsd	%xmm0, %xmm0, %xmm1
	movq	%r8, %r9
	movq	%rsp, %rbp
	pushq	%r15
	pushq	%r14
	movq	%rcx, %r14
	movq	%rdx, %rcx
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	imulq	%rdx, %rcx
	andq	$-32, %rsp
	movq	%rdx, %r15
	subq	%rdx, %rcx
	cmpq	%rdi, %rdx
	jg	.L2
	cmpq	%rdi, %rcx
	movq	%rdi, %rax
	movq	%r15, -24(%rsp)
	cmovle	%rcx, %rax
	cqto
	movq	%rax, -56(%rsp)
	idivq	%r15
	movq	%r15, %rdx
	imulq	%rax, %rdx
	cmpq	%rsi, %r15
	jle	.L19
.L3:
	cmpq	%rdx, -24(%rsp)
	jle	.L43
	vmovsd	.LC0(%rip), %xmm2
	vmovsd	.LC1(%rip), %xmm7
	incq	%rax
	vmovddup	%xmm1, %xmm6
	imulq	%r15, %rax
	vbroadcastsd	%xmm1, %ymm4
	movq	%rax, -40(%rsp)
	vmovddup	%xmm2, %xmm5
	vbroadcastsd	%xmm2, %ymm3
	.p2align 4
	.p2align 3
.L17:
	movq	-56(%rsp), %rax
	movq	-24(%rsp), %rdi
	leaq	(%r15,%rdx), %r8
	cmpq	%rdx, %rax
	cmovl	%rdx, %rax
	cmpq	%rdi, %r8
	cmovle	%r8, %rdi
	movq	%rax, -16(%rsp)
	movq	%rdi, -8(%rsp)
	cmpq	%rdx, %rax
	jg	.L5
	cmpq	%rdx, %rdi
	jle	.L5
	movq	%rdx, %rax
	vmovsd	(%r9,%rdx,8), %xmm0
	subq	%r15, %rax
	vfnmadd213sd	(%r9,%rax,8), %xmm2, %xmm0
	vfmadd231sd	8(%r9,%rdx,8), %xmm7, %xmm0
	vaddsd	(%r9,%r8,8), %xmm0, %xmm0
	vmulsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%r14,%rdx,8)
.L5:
	movq	-16(%rsp), %rbx
	leaq	1(%rdx), %rax
	leaq	-1(%r8), %rsi
	movq	-8(%rsp), %rcx
	movq	%rsi, -48(%rsp)
	cmpq	%rbx, %rax
	cmovl	%rbx, %rax
	cmpq	%rcx, %rsi
	cmovle	%rsi, %rcx
	cmpq	%rcx, %rax
	jge	.L13
	subq	%rax, %rcx
	movq	%rax, -32(%rsp)
	leaq	-1(%rcx), %rdx
	cmpq	$2, %rdx
	jbe	.L21
	movq	%rax, %rdx
	movq	%rcx, %rdi
	leaq	0(,%rax,8), %rsi
	subq	%r15, %rdx
	shrq	$2, %rdi
	leaq	-8(%r9,%rsi), %r12
	leaq	(%r9,%rsi), %rbx
	leaq	(%r9,%rdx,8), %r13
	leaq	(%r15,%rax), %rdx
	leaq	8(%r9,%rsi), %r11
	salq	$5, %rdi
	leaq	(%r9,%rdx,8), %r10
	addq	%r14, %rsi
	xorl	%edx, %edx
	.p2align 4
	.p2align 3
.L11:
	vmovupd	(%r12,%rdx), %ymm0
	vaddpd	0(%r13,%rdx), %ymm0, %ymm0
	vfnmadd231pd	(%rbx,%rdx), %ymm3, %ymm0
	vaddpd	(%r11,%rdx), %ymm0, %ymm0
	vaddpd	(%r10,%rdx), %ymm0, %ymm0
	vmulpd	%ymm4, %ymm0, %ymm0
	vmovupd	%ymm0, (%rsi,%rdx)
	addq	$32, %rdx
	cmpq	%rdi, %rdx
	jne	.L11
	testb	$3, %cl
	je	.L13
	movq	%rcx, %rsi
	andq	$-4, %rsi
	addq	%rsi, %rax
.L10:
	subq	%rsi, %rcx
	cmpq	$1, %rcx
	je	.L15
	movq	-32(%rsp), %rbx
	leaq	(%rsi,%rbx), %rdx
	leaq	(%r15,%rbx), %rdi
	subq	%r15, %rbx
	movq	%rbx, %r10
	salq	$3, %rdx
	addq	%rsi, %rdi
	addq	%rsi, %r10
	vmovupd	(%r9,%r10,8), %xmm0
	vaddpd	-8(%r9,%rdx), %xmm0, %xmm0
	vfnmadd231pd	(%r9,%rdx), %xmm5, %xmm0
	vaddpd	8(%r9,%rdx), %xmm0, %xmm0
	vaddpd	(%r9,%rdi,8), %xmm0, %xmm0
	vmulpd	%xmm6, %xmm0, %xmm0
	vmovupd	%xmm0, (%r14,%rdx)
	testb	$1, %cl
	je	.L13
	andq	$-2, %rcx
	addq	%rcx, %rax
.L15:
	movq	%rax, %rdx
	subq	%r15, %rdx
	vmovsd	(%r9,%rdx,8), %xmm0
	leaq	(%r15,%rax), %rdx
	vaddsd	-8(%r9,%rax,8), %xmm0, %xmm0
	vfnmadd231sd	(%r9,%rax,8), %xmm2, %xmm0
	vaddsd	8(%r9,%rax,8), %xmm0, %xmm0
	vaddsd	(%r9,%rdx,8), %xmm0, %xmm0
	vmulsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%r14,%rax,8)
.L13:
	movq	-8(%rsp), %rax
	cmpq	%rax, %r8
	jg	.L9
	movq	-16(%rsp), %rax
	cmpq	%rax, %r8
	jle	.L9
	movq	-48(%rsp), %rcx
	movq	%rcx, %rax
	vmovsd	-8(%r9,%rcx,8), %xmm0
	subq	%r15, %rax
	vfmadd213sd	(%r9,%rax,8), %xmm7, %xmm0
	leaq	(%rcx,%r15), %rax
	vfnmadd231sd	(%r9,%rcx,8), %xmm2, %xmm0
	vaddsd	(%r9,%rax,8), %xmm0, %xmm0
	vmulsd	%xmm1, %xmm0, %xmm0
	vmovsd	%xmm0, (%r14,%rcx,8)
.L9:
	movq	-40(%rsp), %rax
	movq	%rax, %rdx
	addq	%r15, %rax
	movq	%rax, -40(%rsp)
	movq	-24(%rsp), %rax
	cmpq	%rax, %rdx
	jl	.L17
	vzeroupper
.L43:
	leaq	-40(%rbp), %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	ret
.L21:
	xorl	%esi, %esi
	jmp	.L10
.L2:
	cmpq	%rsi, %rdx
	jg	.L43
	movq	%r15, %rdx
	movq	%r15, -56(%rsp)
	movl	$1, %eax
.L19:
	cmpq	%rsi, %rcx
	cmovle	%rcx, %rsi
	movq	%rsi, -24(%rsp)
	jmp	.L3
.LFE1:
	.size	rhs_heat2d, .-rhs_heat2d
	.section	.rodata.cst8,"aM",@progbits,8
	.align 8
.LC0:
	.long	0
	.long	1074790400
	.align 8
.LC1:
	.long	0
	.long	1073741824
