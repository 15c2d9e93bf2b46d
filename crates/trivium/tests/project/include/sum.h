/* The sum of the numbers below `limit`, each times SCALE. */
#define SCALE 1
double sum(int limit);
