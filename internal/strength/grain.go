package strength

// GrainShare is the level of coarse noise over its root mean square: on photographs of five
// cameras, developed and compressed by them, the levels that are best for single ones are 1.9 to
// 4.5 times as high (NOTEBOOK.md).
const GrainShare = 2.8
