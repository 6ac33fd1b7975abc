package vulkan

// Need is need, for the tests of what a program sees.
var Need = need
