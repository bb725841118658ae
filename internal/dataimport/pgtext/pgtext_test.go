package pgtext

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// arrays are the types of arrays that the tests use, as the catalog lists them, and a domain over an array of domains.
func arrays() *Types {
	t := &Types{}
	for _, row := range [][3]uint32{{1000, 0, oidBool}, {1007, 0, oidInt4}, {1009, 0, 25}, {1231, 0, oidNumeric}, {1115, 0, oidTimestamp}, {90000, oidInt4, 0}, {90001, 0, 90000}, {90002, 90001, 0}} {
		t.Add(row[0], row[1] != 0, row[1], row[2])
	}
	return t
}

func TestDecoder(t *testing.T) {
	for _, tt := range []struct {
		oid  uint32
		text string
		kind record.Kind
		want string // of Value.String
	}{
		{oidBool, "t", record.Bool, "true"},
		{oidBool, "f", record.Bool, "false"},
		{oidInt8, "-9223372036854775808", record.Number, "-9223372036854775808"},
		{oidNumeric, "12345678901234567890.0100", record.Number, "12345678901234567890.0100"},
		{oidNumeric, "NaN", record.Text, "NaN"},
		{oidFloat8, "1e+300", record.Number, "1e+300"},
		{oidFloat8, "-Infinity", record.Text, "-Infinity"},
		{oidBPChar, "NL   ", record.Text, "NL"},
		{oidBytea, `\x00ff`, record.Bytes, "AP8="},
		{oidDate, "2024-02-29", record.Date, "2024-02-29"},
		{oidDate, "infinity", record.Text, "infinity"},
		{oidDate, "0044-03-15 BC", record.Text, "0044-03-15 BC"},
		{oidTimestamp, "2024-05-01 10:00:00.123456", record.Local, "2024-05-01T10:00:00.123456"},
		{oidTimestampTZ, "2024-05-01 10:00:00+00", record.Instant, "2024-05-01T10:00:00Z"},
		{oidTimestampTZ, "2024-05-01 10:00:00.5+05:30", record.Instant, "2024-05-01T04:30:00.5Z"},
		{oidTimestampTZ, "1890-05-01 10:00:00+00:19:32", record.Instant, "1890-05-01T09:40:28Z"},
		{oidTimestampTZ, "infinity", record.Text, "infinity"},
		{2950, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", record.Text, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{3802, `{"a": 1}`, record.Text, `{"a": 1}`},
		{1000, "{t,f,NULL}", record.List, "[true,false,null]"},
		{1007, "{}", record.List, "[]"},
		{1007, "[0:1]={1,2}", record.List, "[1,2]"},
		{1007, "{{1,2},{3,4}}", record.List, "[[1,2],[3,4]]"},
		{1009, `{a,"b c","NULL",NULL,"","x\"y\\z","}{,"}`, record.List, `["a","b c","NULL",null,"","x\"y\\z","}{,"]`},
		{1009, `{a`, record.Text, "{a"},
		{1231, "{1.50,NaN}", record.List, `[1.50,"NaN"]`},
		{1115, `{"2024-05-01 10:00:00"}`, record.List, `["2024-05-01T10:00:00"]`},
		{90002, "{7}", record.List, "[7]"},
	} {
		v := arrays().Decoder(tt.oid)([]byte(tt.text))
		if v.Kind != tt.kind || v.String() != tt.want {
			t.Errorf("type %d, %s: found %s %s, expected %s %s", tt.oid, tt.text, v.Kind, v.String(), tt.kind, tt.want)
		}
	}
}

// FuzzDecoder checks that no text makes a decoder fail, and that its value has a text and a form in JSON.
func FuzzDecoder(f *testing.F) {
	for _, text := range []string{"{1,2}", `{"a\"",{NULL}}`, "[0:1]={1,2}", "2024-05-01 10:00:00+00", `\x00`, "t", "1.5", "{{{{{{{1}}}}}}}", "{,}"} {
		f.Add(uint32(1009), text)
		f.Add(uint32(oidTimestampTZ), text)
	}
	f.Fuzz(func(t *testing.T, oid uint32, text string) {
		v := arrays().Decoder(oid)([]byte(text))
		if v.Kind == record.Null {
			t.Errorf("type %d: %q became null", oid, text)
		}
		_, _ = v.String(), v.AppendJSON(nil)
	})
}
