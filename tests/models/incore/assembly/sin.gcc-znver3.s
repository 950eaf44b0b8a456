	.text
	.p2align 4
	.globl	rhs_sin
	.type	rhs_sin, @function
rhs_sin:
.LFB0:
	pushq	%r13
	pushq	%r12
	pushq	%rbp
	pushq	%rbx
	subq	$24, %rsp
	vmovsd	%xmm0, 8(%rsp)
	cmpq	%rsi, %rdi
	jge	.L5
	movq	%rdi, %rbx
	movq	%rsi, %rbp
	movq	%rdx, %r13
	movq	%rcx, %r12
	.p2align 4
	.p2align 3
.L3:
	vmovsd	(%r12,%rbx,8), %xmm0
	call	sin@PLT
	vmulsd	8(%rsp), %xmm0, %xmm0
	vmovsd	%xmm0, 0(%r13,%rbx,8)
	incq	%rbx
	cmpq	%rbx, %rbp
	jne	.L3
.L5:
	addq	$24, %rsp
	popq	%rbx
	popq	%rbp
	popq	%r12
	popq	%r13
	ret
.LFE0:
	.size	rhs_sin, .-rhs_sin
