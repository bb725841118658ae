package value

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
)

var durationRegexp = regexp.MustCompile(durationPattern)

// TestDurations parses texts and checks the canonical text of each. The canonical text must parse
// to the same value.
func TestDurations(t *testing.T) {
	for _, c := range []struct {
		text, canonical string
		want            time.Duration
	}{
		{"PT0S", "PT0S", 0},
		{"-PT0S", "PT0S", 0},
		{"P0D", "PT0S", 0},
		{"P0W", "PT0S", 0},
		{"PT1H30M", "PT1H30M", 90 * time.Minute},
		{"PT90M", "PT1H30M", 90 * time.Minute},
		{"PT5400S", "PT1H30M", 90 * time.Minute},
		{"P1DT12H", "PT36H", 36 * time.Hour},
		{"P2W", "PT336H", 14 * 24 * time.Hour},
		{"-P1D", "-PT24H", -24 * time.Hour},
		{"PT01H", "PT1H", time.Hour},
		{"PT0.5S", "PT0.5S", 500 * time.Millisecond},
		{"PT1.500S", "PT1.5S", 1500 * time.Millisecond},
		{"PT61.000000001S", "PT1M1.000000001S", 61*time.Second + 1},
		{"-PT1M0.25S", "-PT1M0.25S", -60250 * time.Millisecond},
		{"PT0.000000001S", "PT0.000000001S", 1},
		{"PT1H0M0S", "PT1H", time.Hour},
		{"PT2562047H47M16.854775807S", "PT2562047H47M16.854775807S", math.MaxInt64},
		{"-PT2562047H47M16.854775808S", "-PT2562047H47M16.854775808S", math.MinInt64},
		{"PT" + strings.Repeat("0", 1000) + "1S", "PT1S", time.Second},
	} {
		d, err := ParseDuration(c.text)
		if err != nil || d.Duration() != c.want || d.String() != c.canonical || d != DurationOf(c.want) {
			t.Errorf("%s is parsed as %s, %v; want %s", c.text, d, err, c.canonical)
		}
		if !durationRegexp.MatchString(c.text) || !durationRegexp.MatchString(c.canonical) {
			t.Errorf("the pattern refuses %s or %s", c.text, c.canonical)
		}
	}
}

// TestHostileDurations checks that each text is rejected with an error that says why.
func TestHostileDurations(t *testing.T) {
	for text, why := range map[string]string{
		"": "a duration must have a P", "P": "a duration must have a P", "PT": "nothing follows", "-": "a duration must have a P", "-P": "a duration must have a P", "1H": "a duration must have a P",
		"pt1h": "a duration must have a P", "PT1h": "unknown", " PT1H": "a duration must have a P", "PT1H ": "number before a unit", "PT1H\x00": "number before a unit",
		"+PT1H": "a duration must have a P", "--PT1H": "a duration must have a P", "PT-1H": "or has a sign", "PT1H-30M": "or has a sign", "-PT-1H": "or has a sign",
		"P1DT": "nothing follows", "P1TD": "unknown", "PT1": "unit is missing", "PTH": "number before a unit", "PT1HT1M": "number before a unit",
		"P1H": "unknown", "PT1D": "unknown", "PT1M1H": "out of order", "PT1S1S": "repeated", "PT1H1H": "repeated",
		"P1Y": "fixed length", "P1M": "fixed length", "P1Y2DT3H": "fixed length", "P1DT1M1Y": "unknown",
		"P1W1D": "weeks cannot be combined", "P1WT1H": "weeks cannot be combined", "P1D1W": "out of order", "PT1W": "unknown",
		"PT1.5H": "only seconds", "P0.5D": "only seconds", "P1.5W": "only seconds", "PT1.S": "one to nine", "PT.5S": "number before a unit",
		"PT1.0000000000S": "one to nine", "PT1,5S": "unknown", "PT1.5.5S": "unknown", "PT1e3S": "unknown", "PT0x1S": "unknown", "PT１S": "number before a unit",
		"PT2562047H47M16.854775808S": "292 years", "-PT2562047H47M16.854775809S": "292 years", "PT2562048H": "292 years",
		"P106752D": "292 years", "P15251W": "292 years", "PT9223372037S": "292 years", "PT18446744073709551615S": "292 years",
		"PT18446744073709551616H": "292 years", "PT5124095H34M33.709551616S": "292 years", "PT5124095H34M33.709551617S": "292 years",
		"PT" + strings.Repeat("9", 100_000) + "S": "292 years",
	} {
		d, err := ParseDuration(text)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.80q is parsed as %s, %v; want an error with %q", text, d, err, why)
		} else if len(err.Error()) > 300 {
			t.Errorf("the error on a text of %d bytes has %d", len(text), len(err.Error()))
		}
	}
	var d DurationValue
	for _, text := range []string{`1`, `null1`, `"PT1"`, `{}`, `["PT1S"]`} {
		if json.Unmarshal([]byte(text), &d) == nil {
			t.Errorf("the JSON %s is a duration", text)
		}
	}
}

// TestDurationForms checks that the text of a random duration is parsed as the same duration, and
// that the regular expression accepts it.
func TestDurationForms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		n := DurationValue(rng.Uint64()) >> rng.IntN(64)
		if rng.IntN(2) == 0 {
			n = n / 1e9 * 1e9
		}
		again, err := ParseDuration(n.String())
		if err != nil || again != n || !durationRegexp.MatchString(n.String()) {
			t.Fatalf("%d is written as %s, which is parsed as %d, %v", int64(n), n, int64(again), err)
		}
		b, err := json.Marshal(n)
		if err != nil || json.Unmarshal(b, &again) != nil || again != n {
			t.Fatalf("%d in JSON is %s, %v, read as %d", int64(n), b, err, int64(again))
		}
	}
}

func FuzzDuration(f *testing.F) {
	for _, s := range []string{"PT1H30M", "-P1DT0.5S", "P2W", "PT", "P1Y", "PT1.0000000000S"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err != nil {
			return
		}
		if again, err := ParseDuration(d.String()); err != nil || again != d || !durationRegexp.MatchString(s) {
			t.Errorf("%q is %s, which is %s, %v", s, d, again, err)
		}
	})
}
