	.text
	.p2align 4
	.globl	update
	.type	update, @function
update:
.LFB0:
	movq	%rcx, %r8
	cmpq	%rsi, %rdi
	jge	.L20
	subq	%rdi, %rsi
	movq	%rdi, %r9
	leaq	-1(%rsi), %rax
	cmpq	$2, %rax
	jbe	.L8
	movq	%rsi, %r11
	leaq	0(,%rdi,8), %r10
	vbroadcastsd	%xmm0, %ymm2
	xorl	%eax, %eax
	shrq	$2, %r11
	leaq	(%rdx,%r10), %rcx
	addq	%r8, %r10
	salq	$5, %r11
	.p2align 4
	.p2align 3
.L4:
	vmovupd	(%r10,%rax), %ymm1
	vfmadd213pd	(%rcx,%rax), %ymm2, %ymm1
	vmovupd	%ymm1, (%rcx,%rax)
	addq	$32, %rax
	cmpq	%rax, %r11
	jne	.L4
	testb	$3, %sil
	je	.L19
	movq	%rsi, %rax
	andq	$-4, %rax
	addq	%rax, %rdi
	vzeroupper
.L3:
	subq	%rax, %rsi
	cmpq	$1, %rsi
	je	.L6
	addq	%r9, %rax
	vmovddup	%xmm0, %xmm1
	salq	$3, %rax
	leaq	(%rdx,%rax), %rcx
	vmovupd	(%rcx), %xmm4
	vfmadd132pd	(%r8,%rax), %xmm4, %xmm1
	vmovupd	%xmm1, (%rcx)
	testb	$1, %sil
	je	.L20
	andq	$-2, %rsi
	addq	%rsi, %rdi
.L6:
	leaq	0(,%rdi,8), %rax
	addq	%rax, %rdx
	vmovsd	(%rdx), %xmm3
	vfmadd132sd	(%r8,%rax), %xmm3, %xmm0
	vmovsd	%xmm0, (%rdx)
	ret
	.p2align 4
	.p2align 3
.L19:
	vzeroupper
.L20:
	ret
.L8:
	xorl	%eax, %eax
	jmp	.L3
.LFE0:
	.size	update, .-update
