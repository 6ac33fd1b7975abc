// driver_load opens the driver library libcuda.so.1, looks its functions up and initialises
// it. It returns NULL and puts what cuInit said into *result, or returns why there is no
// library. To be called once.
const char *driver_load(int *result);
