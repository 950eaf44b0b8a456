	.arch armv8.2-a+crc+sve
	.text
	.align	2
	.p2align 5,,31
	.global	update
	.type	update, %function
update:
.LFB0:
	cmp	x0, x1
	bge	.L1
	sub	x4, x1, x0
	mov	z0.d, d0
	lsl	x0, x0, 3
	whilelo	p0.d, xzr, x4
	add	x3, x3, x0
	mov	x1, 0
	add	x0, x2, x0
	ptrue	p1.b, all
	.p2align 5,,31
.L3:
	ld1d	z2.d, p0/z, [x0]
	ld1d	z1.d, p0/z, [x3, x1, lsl 3]
	fmad	z1.d, p1/m, z0.d, z2.d
	st1d	z1.d, p0, [x0]
	incd	x1
	incb	x0
	whilelo	p0.d, x1, x4
	b.any	.L3
.L1:
	ret
.LFE0:
	.size	update, .-update
