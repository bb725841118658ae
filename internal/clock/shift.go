package clock

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxShiftDays limits the shift to about 274 years, because a time.Duration holds at most 292.
const maxShiftDays = 100_000

// parseShift parses an offset: a Go duration, or a number of days such as 3653d. The empty text
// means no offset.
func parseShift(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	if number, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.Atoi(number)
		if err != nil || days < -maxShiftDays || days > maxShiftDays {
			return 0, fmt.Errorf("%q is not a number of days between %d and %d, such as 3653d", text, -maxShiftDays, maxShiftDays)
		}
		return time.Duration(days) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is neither a duration, such as 48h, nor a number of days, such as 3653d", text)
	}
	return d, nil
}
