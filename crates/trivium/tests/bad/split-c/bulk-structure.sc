// A bulk read into what is no pointer.
static struct pair { int a, b; } total;

int splitc_main(void) {
    struct pair here;
    bulk_read(here, toglobal(0, &total), sizeof here);
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:6:15: error: passing 'struct pair' to parameter of incompatible type 'void *'
//!     6 |     bulk_read(here, toglobal(0, &total), sizeof here);
//!       |               ^~~~
//! split-c.h:_:22: note: passing argument to parameter 'to' here
//! 1 error generated.
//!  --> FILE:6:15
//! help: correct what the compiler names above
//= 2
