// A member that the structure has not.
static struct pair { int a, b; } total;

int splitc_main(void) {
    struct pair *global there = toglobal(0, &total);
    there->a = 1;  return there->c;
    return 0;
}
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:6:34: error: no member named 'c' in 'struct pair'
//!     6 |     there->a = 1;  return there->c;
//!       |                           ~      ^
//! 1 error generated.
//!  --> FILE:6:34
//! help: correct what the compiler names above
//= 2
