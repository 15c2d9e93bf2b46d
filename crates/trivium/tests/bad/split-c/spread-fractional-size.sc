// Two and a half elements.
int dealt[2.5]::;

int splitc_main(void) { return 0; }
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:2:11: error: invalid operands to binary expression ('double' and 'int')
//!     2 | int dealt[2.5]::;
//!       |           ^
//! 1 error generated.
//!  --> FILE:2:11
//! help: correct what the compiler names above
//= 2
