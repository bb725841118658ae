#include "textflag.h"

// func impactsFromAVX2(impacts *byte, least uint8) uint64
TEXT ·impactsFromAVX2(SB), NOSPLIT, $0-24
	MOVQ         impacts+0(FP), SI
	VPBROADCASTB least+8(FP), Y2
	VMOVDQU      (SI), Y0
	VMOVDQU      32(SI), Y1
	VPMAXUB      Y0, Y2, Y3
	VPMAXUB      Y1, Y2, Y4
	VPCMPEQB     Y0, Y3, Y3
	VPCMPEQB     Y1, Y4, Y4
	VPMOVMSKB    Y3, AX
	VPMOVMSKB    Y4, BX
	SHLQ         $32, BX
	ORQ          BX, AX
	MOVQ         AX, ret+16(FP)
	VZEROUPPER
	RET
