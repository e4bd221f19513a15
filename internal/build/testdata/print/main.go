// Command print prints what it was built from, as chatd does.
package main

import (
	"fmt"

	"github.com/chatd/chatd/internal/build"
)

func main() { fmt.Println(build.Read().Commit) }
