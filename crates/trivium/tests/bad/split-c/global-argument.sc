// A global pointer is passed as a local one.
static int total;
static int twice(int *of) { return 2 * *of; }

int splitc_main(void) {
    return 0 * MYPROC + twice(toglobal(0, &total));
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:6:39: error: passing 'int *global' to parameter of type 'int *' changes address space of pointer
//!     6 |     return 0 * MYPROC + twice(toglobal(0, &total));
//!       |                                       ^~
//! FILE:3:23: note: passing argument to parameter 'of' here
//!     3 | static int twice(int *of) { return 2 * *of; }
//!       |                       ^
//! 1 error generated.
//!  --> FILE:6:39
//! help: correct what the compiler names above
//= 2
