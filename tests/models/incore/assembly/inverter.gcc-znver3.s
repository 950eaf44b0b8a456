	.text
	.p2align 4
	.globl	rhs_inverter
	.type	rhs_inverter, @function
rhs_inverter:
.LFB0:
	movq	%rdi, %rax
	vmovsd	%xmm0, %xmm0, %xmm5
	cmpq	%rsi, %rdi
	jge	.L15
	vmovsd	-8(%rcx,%rdi,8), %xmm0
	vmovsd	.LC1(%rip), %xmm4
	vxorpd	%xmm3, %xmm3, %xmm3
	vmovsd	.LC2(%rip), %xmm7
	vmovsd	.LC3(%rip), %xmm6
	jmp	.L9
	.p2align 4
	.p2align 3
.L18:
	vmulsd	%xmm1, %xmm1, %xmm1
.L3:
	vmovsd	(%rcx,%rax,8), %xmm2
	vsubsd	%xmm2, %xmm0, %xmm0
	vsubsd	%xmm4, %xmm0, %xmm0
	vcomisd	%xmm3, %xmm0
	jbe	.L14
	vfnmadd132sd	%xmm0, %xmm1, %xmm0
	vsubsd	%xmm2, %xmm7, %xmm1
	vdivsd	%xmm5, %xmm1, %xmm1
	vfnmadd132sd	%xmm6, %xmm1, %xmm0
	vmovsd	%xmm0, (%rdx,%rax,8)
	incq	%rax
	cmpq	%rax, %rsi
	je	.L17
.L7:
	vmovsd	%xmm2, %xmm2, %xmm0
.L9:
	vsubsd	%xmm4, %xmm0, %xmm1
	vcomisd	%xmm3, %xmm1
	ja	.L18
	vxorpd	%xmm1, %xmm1, %xmm1
	jmp	.L3
	.p2align 4
	.p2align 3
.L14:
	vsubsd	%xmm2, %xmm7, %xmm0
	vdivsd	%xmm5, %xmm0, %xmm0
	vfnmadd132sd	%xmm6, %xmm0, %xmm1
	vmovsd	%xmm1, (%rdx,%rax,8)
	incq	%rax
	cmpq	%rax, %rsi
	jne	.L7
.L15:
	ret
	.p2align 4
	.p2align 3
.L17:
	ret
.LFE0:
	.size	rhs_inverter, .-rhs_inverter
	.section	.rodata.cst8,"aM",@progbits,8
	.align 8
.LC1:
	.long	0
	.long	1072693248
	.align 8
.LC2:
	.long	0
	.long	1075052544
	.align 8
.LC3:
	.long	0
	.long	1079574528
