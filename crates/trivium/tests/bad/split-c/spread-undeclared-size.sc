// The size of a spread array is no constant that anybody has declared.
int first, dealt[MOST]::;

int splitc_main(void) { return 0; }
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:2:18: error: use of undeclared identifier 'MOST'
//!     2 | int first, dealt[MOST]::;
//!       |                  ^~~~
//! 1 error generated.
//!  --> FILE:2:18
//! help: correct what the compiler names above
//= 2
