package main

import "github.com/mintlify-community/mintlify-go/bench/figures"

// row is a line of a table. What is compared is the SDK's median, run by run as
// a ratio to the loop's of the same figure, or to what base says instead.
type row struct {
	title, figure string
	unit          func(float64) string
	sdk           string // the column in the SDK's place; "" is sdk
	base          base
	most          float64                  // the ratio that is aimed at; 0 is none
	mostItself    float64                  // the figure that is aimed at; 0 is none
	accepted      func(figures.Set) string // why it is left so where it misses its aim
	drawn         string                   // its name in the picture; "" is not drawn
}

type base struct{ figure, column string }

var rows = []row{
	{title: "requests for 100,000 rows, page size left alone", figure: "requests", unit: count, mostItself: 400, drawn: "requests of an export"},
	{title: "the same, with a page size of 250 rows", figure: "requests of largest pages", unit: count, mostItself: 400},
	{title: "the same, the SDK with `WithPrefetch(4)`", figure: "requests of largest pages", unit: count, sdk: "prefetch4", mostItself: 403},
	{title: "export of 25,000 rows, 20 ms latency a page", figure: "seconds without work", unit: seconds},
	{title: "the same, the SDK with `WithPrefetch(1)`", figure: "seconds without work", unit: seconds, sdk: "prefetch"},
	{title: "the same, the SDK with `WithPrefetch(4)`", figure: "seconds without work", unit: seconds, sdk: "prefetch4", most: 0.30, drawn: "export, WithPrefetch(4)"},
	{title: "export of 25,000 rows, 20 ms latency and 20 ms of work a page", figure: "seconds with work", unit: seconds},
	{title: "the same, the SDK with `WithPrefetch(1)`", figure: "seconds with work", unit: seconds, sdk: "prefetch", most: 0.55},
	{title: "the same, the SDK with `WithPrefetch(4)`", figure: "seconds with work", unit: seconds, sdk: "prefetch4", most: 0.52, drawn: "the same, with work"},
	{title: "1,000 Gets at once, second wave: new connections", figure: "new connections", unit: count, mostItself: 100},
	{title: "what the first wave's keep: heap and stack", figure: "bytes kept", unit: mebibytes, drawn: "memory of idle connections"},
	{title: "peak memory, export of 1,000,000 rows", figure: "peak of many", unit: mebibytes, most: 1.05, accepted: memoryOf("sdk"), drawn: "peak memory of an export"},
	{title: "of that, pages of the program's file", figure: "file of many", unit: mebibytes},
	{title: "peak memory, the SDK with `WithPrefetch(1)`", figure: "peak of many", unit: mebibytes, sdk: "prefetch", most: 1.05, accepted: memoryOf("prefetch")},
	{title: "peak memory, the SDK with `WithPrefetch(4)`", figure: "peak of many", unit: mebibytes, sdk: "prefetch4", most: 1.05, accepted: memoryOf("prefetch4")},
	{title: "peak memory, 1,000,000 rows to 100,000", figure: "peak of many", unit: mebibytes, base: base{"peak of few", "sdk"}, most: 1.05, accepted: garbage},
	{title: "peak memory, 1,000,000 rows to 100,000, `WithPrefetch(4)`", figure: "peak of many", unit: mebibytes, sdk: "prefetch4", base: base{"peak of few", "prefetch4"}, most: 1.05, accepted: garbage},
	{title: "the most that a hostile body costs: live heap", figure: "hostile bytes", unit: mebibytes, mostItself: 64 << 20, drawn: "memory of a hostile body"},
	{title: "10,000 waits at once: heap and stack a wait", figure: "bytes a wait", unit: kibibytes, mostItself: 8 << 10, drawn: "memory of a wait"},
	{title: "10,000 waits at once: goroutines a wait", figure: "goroutines a wait", unit: count, mostItself: 1},
	{title: "a page of 250 rows: bytes allocated", figure: "page bytes", unit: kibibytes, most: 0.22, drawn: "bytes of a page"},
	{title: "a page of 250 rows: allocations", figure: "page allocations", unit: count},
	{title: "a page of 250 rows: CPU", figure: "page cpu", unit: microseconds, most: 0.95, drawn: "CPU of a page"},
	{title: "the same, next Go", figure: next + "page cpu", unit: microseconds, most: 0.70, drawn: "CPU of a page, next Go"},
	{title: "a page of 250 rows: CPU on the next Go, to the loop's on this one", figure: next + "page cpu", unit: microseconds, base: base{"page cpu", "loop"}, most: 0.60},
	{title: "a Get: bytes allocated", figure: "get bytes", unit: kibibytes},
	{title: "a Get: allocations", figure: "get allocations", unit: count, most: 1.35, accepted: ofACall, drawn: "allocations of a Get"},
	{title: "the same, on a transport that is not net/http's", figure: "foreign get allocations", unit: count},
	{title: "a Get: CPU", figure: "get cpu", unit: microseconds, most: 1.3, accepted: ofACall, drawn: "CPU of a Get"},
	{title: "the same, next Go", figure: next + "get cpu", unit: microseconds},
	{title: "a Create: bytes allocated", figure: "create bytes", unit: kibibytes},
	{title: "a Create: allocations", figure: "create allocations", unit: count, most: 1.45, accepted: ofACall},
	{title: "the same, on a transport that is not net/http's", figure: "foreign create allocations", unit: count},
	{title: "a Create: CPU", figure: "create cpu", unit: microseconds, most: 1.3, accepted: createCPU, drawn: "CPU of a Create"},
	{title: "the same, next Go", figure: next + "create cpu", unit: microseconds},
	{title: "modules linked besides the program's own", figure: "modules", unit: count, mostItself: 3},
}

// otherRows are of pages of the other exports.
var otherRows = []row{
	{title: "a page of 100 searches: bytes allocated", figure: "searches bytes", unit: kibibytes},
	{title: "a page of 100 searches: allocations", figure: "searches allocations", unit: count},
	{title: "a page of 100 searches: CPU", figure: "searches cpu", unit: microseconds, drawn: "CPU of a page of searches"},
	{title: "the same, next Go", figure: next + "searches cpu", unit: microseconds},
	{title: "a page of 100 conversations: bytes allocated", figure: "conversations bytes", unit: mebibytes},
	{title: "a page of 100 conversations: allocations", figure: "conversations allocations", unit: count},
	{title: "a page of 100 conversations: CPU", figure: "conversations cpu", unit: milliseconds, drawn: "CPU of a page of conversations"},
	{title: "the same, next Go", figure: next + "conversations cpu", unit: milliseconds},
}

// tlsRows are over TLS and HTTP/2.
var tlsRows = []row{
	{title: "a Get: CPU", figure: overTLS + "socket get cpu", unit: microseconds},
	{title: "a Get: allocations", figure: overTLS + "socket get allocations", unit: count},
	{title: "a Create: CPU", figure: overTLS + "socket create cpu", unit: microseconds},
	{title: "a Create: allocations", figure: overTLS + "socket create allocations", unit: count},
	{title: "a page of 250 rows: CPU", figure: overTLS + "socket page cpu", unit: microseconds},
	{title: "a page of 250 rows: bytes allocated", figure: overTLS + "socket page bytes", unit: kibibytes},
	{title: "1,000 Gets at once: connections", figure: overTLS + "first connections", unit: count},
	{title: "second wave: new connections", figure: overTLS + "new connections", unit: count},
	{title: "what the first wave's keep: heap and stack", figure: overTLS + "bytes kept", unit: mebibytes},
	{title: "1,000 waits at once: heap and stack a wait, with its share of the connections", figure: overTLS + "socket bytes a wait", unit: kibibytes},
	{title: "export of 25,000 rows, 20 ms latency a page", figure: overTLS + "seconds without work", unit: seconds},
	{title: "the same, the SDK with `WithPrefetch(4)`", figure: overTLS + "seconds without work", unit: seconds, sdk: "prefetch4"},
}

// startRows are of a program that makes a client and ends.
var startRows = []row{
	{title: "program, stripped", figure: "size", unit: mebibytes, most: 1.12, drawn: "size of a program"},
	{title: "from its start to its end", figure: "start time", unit: milliseconds, drawn: "start of a program"},
	{title: "CPU", figure: "start cpu", unit: milliseconds},
	{title: "of that, the init functions of all packages", figure: "init time", unit: milliseconds},
	{title: "what these allocate", figure: "init bytes", unit: kibibytes},
	{title: "peak memory", figure: "peak at start", unit: mebibytes},
}
