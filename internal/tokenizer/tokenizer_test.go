package tokenizer

import (
	"hash/crc32"
	"io"
	"slices"
	"testing"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"The quick brown foxes", []string{"quick", "brown", "fox"}},
		{"Generations of running, runners' RUN!", []string{"generat", "run", "runner", "run"}},
		{"don't can't", nil},
		{"x86 v1.26.8 3,000", []string{"x86", "v1.26.8", "3,000"}},
		{"naïve Straße", []string{"naiv", "straße"}},
		{"café cafe\u0301 CAFÉ CAFE\u0301 cafe ｃａｆｅ́", []string{"cafe", "cafe", "cafe", "cafe", "cafe", "cafe"}},
		{"O'Brien O’Brien O‘Brien OʼBrien O‛Brien O´Brien O＇Brien o’brien’s", []string{"o'brien", "o'brien", "o'brien", "o'brien", "o'brien", "o'brien", "o'brien", "o'brien"}},
		{"don’t DON＇T the dogsʼ ʼphone", []string{"dog", "phone"}},
		{"thé à la the", []string{"the", "a", "la"}}, // a word with marks is no stop word
		{"ＡＢＣ １２ ｶﾞ ガ カ\u3099", []string{"abc", "12", "ガ", "ガ", "ガ"}},
		{"Ὀδυσσεύς ΟΔΥΣΣΕΥΣ Άλφα αλφα", []string{"οδυσσευσ", "οδυσσευσ", "αλφα", "αλφα"}},
		{"İstanbul Việt ŝ s\u0323\u0307 \u1E69", []string{"istanbul", "viet", "s", "s", "s"}},
		{"й и\u0306 и", []string{"й", "й", "и"}}, // other marks make other letters
		{"हिन्दी", []string{"हिन्दी"}},
		{"가 \u1100\u1161", []string{"가", "가"}},
		{"— … !", nil},
		{"read_file readFile", []string{"read_fil", "readfil"}},
	} {
		if got := AppendTokens(nil, c.in); !slices.Equal(got, c.want) {
			t.Errorf("tokens of %q are %q, want %q", c.in, got, c.want)
		}
	}
}

// TestBoth looks at the words as written.
func TestBoth(t *testing.T) {
	got := AppendBoth(nil, "The Résumés of documentation, cat")
	if want := []string{"resum", "resumes", "document", "documentation", "cat"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	a := NewAnalyzer()
	stems, written := a.AppendBoth(nil, nil, "Cats, cats and cat")
	if !slices.Equal(stems, []uint32{0, 0, 0}) || !slices.Equal(written, []uint32{1, 1}) || !slices.Equal(a.Tokens, []string{"cat", Written + "cats"}) {
		t.Errorf("stems %v, written %v of %q", stems, written, a.Tokens)
	}
}

// TestVersion fails if the tokens of a text changed. Then raise Version, so that stored indexes are built
// again, and write the new sum here.
func TestVersion(t *testing.T) {
	sum := crc32.NewIEEE()
	for _, s := range []string{stopList, "generations generously skies dying news inning proceed", "x86 v1.26.8 3,000 read_file 5'10 a@b.c", "É e\u0301 ß ẞ ı İ ǆ ﬁ Ⅷ ς µ", "ｶﾞ 漢字かな 한국어 ไทย עברית \u200eالعربية", "O’Brien’s l´été ʻokina"} {
		for _, w := range AppendBoth(nil, s) {
			_, _ = io.WriteString(sum, w+"\n")
		}
	}
	if got, want := (versioned{Version, sum.Sum32()}), (versioned{2, 3933976826}); got != want {
		t.Errorf("the version and the sum of the tokens are %v, expected %v", got, want)
	}
}

// versioned is a version of the analyzer and the sum of the tokens of its texts.
type versioned struct {
	version int
	sum     uint32
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		limit int
		want  bool
	}{
		{"", "", 0, true},
		{"abc", "abc", 0, true},
		{"abc", "abd", 0, false},
		{"abc", "abd", 1, true},
		{"kitten", "sitting", 2, false},
		{"kitten", "sittin", 2, true},
		{"ab", "ba", 1, false},
		{"ab", "ba", 2, true},
		{"", "abc", 2, false},
		{"é", "e", 1, true},
	} {
		if got := Within(c.a, c.b, c.limit); got != c.want {
			t.Errorf("Within(%q, %q, %d) = %v", c.a, c.b, c.limit, got)
		}
		if got := Within(c.b, c.a, c.limit); got != c.want {
			t.Errorf("Within(%q, %q, %d) = %v", c.b, c.a, c.limit, got)
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("The quick brown foxes")
	f.Add("\xff\x00 it's")
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range AppendTokens(nil, s) {
			if w == "" {
				t.Errorf("%q has an empty token", s)
			}
		}
	})
}
