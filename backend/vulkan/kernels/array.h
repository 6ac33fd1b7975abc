// Arrays are of 32-bit words; an operand begins at an offset of its binding. Work is cut into groups
// of 256 along x, which take turns where there are more than a dispatch may have; so do planes along y.
#extension GL_EXT_control_flow_attributes : enable

const uint GROUP = 256;
layout(local_size_x = 256, local_size_y = 1, local_size_z = 1) in;

// For the elements of a thread below n.
#define EACH(i, n) for (uint i = gl_GlobalInvocationID.x; i < (n); i += GROUP * gl_NumWorkGroups.x)
// For the planes of a workgroup below n.
#define PLANES(k, n) for (uint k = gl_WorkGroupID.y; k < (n); k += gl_NumWorkGroups.y)
