module github.com/chatd/chatd/bench

go 1.26.0

require github.com/chatd/chatd v0.0.0

replace github.com/chatd/chatd => ../
