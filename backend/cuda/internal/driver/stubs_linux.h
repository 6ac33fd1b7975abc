// driver_load opens the driver library, by a path or a name that the loader looks up, looks its
// functions up and initialises it. It returns NULL and puts what cuInit said into *result, or
// returns why there is no library. To be called until it returns NULL.
const char *driver_load(const char *path, int *result);
