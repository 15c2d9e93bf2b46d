// The arguments of a bulk get, the wrong way round.
static int total[4];

int splitc_main(void) {
    int here[4];
    bulk_get(toglobal(0, total), here, sizeof here);
    sync();
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:6:22: error: passing 'int *global' to parameter of type 'void *' changes address space of pointer
//!     6 |     bulk_get(toglobal(0, total), here, sizeof here);
//!       |                      ^~
//! split-c.h:_:21: note: passing argument to parameter 'to' here
//! 1 error generated.
//!  --> FILE:6:22
//! help: correct what the compiler names above
//= 2
