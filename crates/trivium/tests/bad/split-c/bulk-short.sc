// A bulk write of nobody knows how many bytes.
static int total[4];

int splitc_main(void) {
    int here[4] = {0};
    bulk_write(toglobal(0, total), here);
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:6:40: error: too few arguments to function call, expected 3, have 2
//!     6 |     bulk_write(toglobal(0, total), here);
//!       |                                        ^
//! split-c.h:_:6: note: 'bulk_write' declared here
//! 1 error generated.
//!  --> FILE:6:40
//! help: correct what the compiler names above
//= 2
