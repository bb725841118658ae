//go:build !shiftedclock

package clock

import "time"

const shift time.Duration = 0
