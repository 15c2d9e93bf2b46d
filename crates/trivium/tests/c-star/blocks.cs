#include <stdio.h>
shape [5][7]S, [35]L;
#pragma cstar dist S block(2,3)
int:S a, b; int:L l;
int main(void) {
  with (S) {
    a = pcoord(0) * 10 + pcoord(1);
    b = [(. + 1) %% 5][. ]a * 100 + [.][(. - 1) %% 7]a;
    int s = 0; for (int i = 0; i < 5; i++) for (int j = 0; j < 7; j++) s = s * 3 % 10007 + [i][j]b;
    where (pcoord(0) > 0 & pcoord(1) < 6) { b = [. - 1][. + 1]a; [. - 1][. + 1]a = b + 1; }
    where ((pcoord(0) + pcoord(1)) % 2) [pcoord(0) * 7 + pcoord(1)]l += a;
    [pcoord(0) / 2][pcoord(1) / 2]a += b;
    int t = 0; for (int i = 0; i < 5; i++) for (int j = 0; j < 7; j++) t = t * 3 % 10007 + [i][j]a + [i][j]b;
    with (L) { int u = (+= l), v = (+= (l * pcoord(0))); printf("%d %d %d %d\n", s, t, u, v); }
  }
  return 0;
}
