	.arch armv8.2-a+crc+fp16+rcpc+dotprod+profile
	.text
	.align	2
	.p2align 5,,15
	.global	update
	.type	update, %function
update:
.LFB0:
	cmp	x0, x1
	bge	.L1
	sub	x8, x1, x0
	sub	x4, x8, #1
	cmp	x4, 1
	bls	.L3
	dup	v3.2d, v0.d[0]
	lsr	x6, x8, 1
	add	x5, x2, x0, lsl 3
	add	x7, x3, x0, lsl 3
	lsl	x6, x6, 4
	mov	x4, 0
	.p2align 5,,15
.L4:
	ldr	q1, [x5, x4]
	ldr	q2, [x7, x4]
	fmla	v1.2d, v2.2d, v3.2d
	str	q1, [x5, x4]
	add	x4, x4, 16
	cmp	x4, x6
	bne	.L4
	tbz	x8, 0, .L1
	and	x8, x8, -2
	add	x0, x0, x8
.L3:
	lsl	x4, x0, 3
	add	x0, x0, 1
	ldr	d1, [x2, x4]
	ldr	d2, [x3, x4]
	fmadd	d1, d2, d0, d1
	str	d1, [x2, x4]
	cmp	x1, x0
	ble	.L1
	add	x4, x4, 8
	ldr	d1, [x2, x4]
	ldr	d2, [x3, x4]
	fmadd	d0, d0, d2, d1
	str	d0, [x2, x4]
.L1:
	ret
.LFE0:
	.size	update, .-update
