package value_test

import (
	"fmt"
	"log"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Values are the arguments of queries. The zero Value is null.
func ExampleValue() {
	year := value.OfI32(1974)
	tags := value.OfList(value.String, []value.Value{value.OfString("novel"), value.OfString("utopia")})
	fmt.Println(year.Type(), value.Text(year))
	fmt.Println(tags.Type(), len(tags.Elems()))
	fmt.Println(value.Null.IsNull())
	// Output:
	// I32 1974
	// [String] 2
	// true
}

// Compare compares numbers of different kinds by their mathematical values.
func ExampleCompare() {
	order, ok := value.Compare(value.OfU64(1<<63), value.OfI32(-1))
	fmt.Println(order, ok)
	_, ok = value.Compare(value.Null, value.OfI32(-1))
	fmt.Println(ok)
	// Output:
	// 1 true
	// false
}

// A kind parses the text of its values.
func ExampleKind_Parse() {
	kind, _ := value.KindOf("Date")
	day, err := kind.Parse("2026-02-28")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(value.Text(day))
	_, err = kind.Parse("2026-02-30")
	fmt.Println(err)
	// Output:
	// 2026-02-28
	// "2026-02-30" is not a date; write it as YYYY-MM-DD
}
