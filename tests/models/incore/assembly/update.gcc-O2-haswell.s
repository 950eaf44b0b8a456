	.text
	.p2align 4
	.globl	update
	.type	update, @function
update:
.LFB0:
	cmpq	%rsi, %rdi
	jge	.L5
	.p2align 4,,10
	.p2align 3
.L3:
	vmovsd	(%rcx,%rdi,8), %xmm1
	vfmadd213sd	(%rdx,%rdi,8), %xmm0, %xmm1
	vmovsd	%xmm1, (%rdx,%rdi,8)
	incq	%rdi
	cmpq	%rdi, %rsi
	jne	.L3
.L5:
	ret
.LFE0:
	.size	update, .-update
