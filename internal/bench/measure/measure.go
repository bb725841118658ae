// Package measure has what several benchmarks need to measure times.
package measure

import "time"

// Quantile returns the smallest of the sorted times such that the fraction q of all times is at most
// that time. There must be at least one time.
func Quantile(sorted []time.Duration, q float64) time.Duration {
	// 0.999999 rounds up, but leaves room for the rounding error of the product.
	rank := int(q*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}
