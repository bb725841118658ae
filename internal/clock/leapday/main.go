// Command leapday prints how long it is until noon in UTC of the next 29 February, as the
// shift of a test run. At that time it is 08:30 of the day in St. John's, and 02:00 of 1
// March on Kiritimati.
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
		if noon.Day() == 29 && noon.After(t) { // the 29th of a common year is 1 March
			return noon
		}
	}
}
