// Command leapday prints the duration until noon UTC of the next 29 February, for use as the shift
// of a test run. At that instant it is 08:30 on 29 February in St. John's, and 02:00 on 1 March on
// Kiritimati.
package main

import (
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

func main() { fmt.Println(clock.Until(next(clock.Now())).Round(time.Second)) }

// next returns noon of the first 29 February after t.
func next(t time.Time) time.Time {
	for year := t.UTC().Year(); ; year++ {
		noon := time.Date(year, time.February, 29, 12, 0, 0, 0, time.UTC)
		if noon.Day() == 29 && noon.After(t) { // in other years, time.Date returns 1 March
			return noon
		}
	}
}
