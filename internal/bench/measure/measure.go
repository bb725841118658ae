// Package measure has what several benchmarks need to measure and report.
package measure

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Quantile returns the smallest of the sorted times such that the fraction q of all times is at most
// that time. There must be at least one time.
func Quantile(sorted []time.Duration, q float64) time.Duration {
	// 0.999999 rounds up, but leaves room for the rounding error of the product.
	rank := int(q*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}

// LoadAverages returns the load of the machine over 1, 5 and 15 minutes, or "unknown". If the machine
// does other work, the figures of a benchmark are less reliable, in particular the p99.
func LoadAverages() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], ", ")
}

// FileBytes returns the total length of the files below a folder, in bytes.
func FileBytes(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
