package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand prints a script that has a shell complete the commands and flags of chatd.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// completions are the scripts. They know nothing of the commands: they ask the binary that is being typed.
var completions = map[string]string{
	"bash": `_chatd() {
    local IFS=$'\n'
    COMPREPLY=($("${COMP_WORDS[0]}" complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _chatd chatd
`,
	"zsh": `#compdef chatd
_chatd() {
    local -a found
    local line
    for line in "${(@f)$("${words[1]}" complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] && found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( $#found )); then _describe chatd found; else _files; fi
}
if [ "$funcstack[1]" = "_chatd" ]; then _chatd "$@"; else compdef _chatd chatd; fi
`,
	"fish": `function __chatd_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($before[1] complete-words -- $before[2..-1] "$current" 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c chatd -f -a '(__chatd_complete)'
`,
}

func (c completionCommand) Run(env *environment) error {
	return env.print("%s", completions[c.Shell])
}

// completeWordsCommand is what the scripts ask: it prints what the last word may be, each with its help behind a tab.
type completeWordsCommand struct {
	Words []string `arg:"" optional:"" help:"The words after chatd; the last one is being typed."`
}

func (c completeWordsCommand) Run(env *environment) error {
	parser, err := newParser(new(commandLine), env.stdout, env.stderr, func(int) {})
	if err != nil {
		return err
	}
	for _, one := range candidates(parser.Model.Node, c.Words) {
		if err := env.print("%s\t%s\n", one[0], one[1]); err != nil {
			return err
		}
	}
	return nil
}

// candidates are the words that the last one may become, each with its help: from the table that parses the command line.
func candidates(root *kong.Node, words []string) (found [][2]string) {
	if len(words) == 0 {
		words = []string{""}
	}
	at, current := root, words[len(words)-1]
	var value *kong.Flag // that the next word is the value of
	for _, word := range words[:len(words)-1] {
		switch {
		case value != nil:
			value = nil
		case word == "--":
			return nil
		case strings.HasPrefix(word, "-"):
			value = takesValue(at, word)
		default:
			if child := childOf(at, word); child != nil {
				at = child
			}
		}
	}
	add := func(word, help string) {
		if strings.HasPrefix(word, current) && word != "" {
			found = append(found, [2]string{word, strings.ReplaceAll(help, "\n", " ")})
		}
	}
	switch {
	case value != nil:
		for _, word := range strings.Split(value.Enum, ",") {
			add(word, value.Name)
		}
	case strings.HasPrefix(current, "-"):
		dashes := "-"
		if strings.HasPrefix(current, "--") {
			dashes = "--"
		}
		for _, settings := range []bool{false, true} { // the server's settings are many: only where nothing else is meant
			for _, flag := range flagsOf(at) {
				if isSetting(flag) == settings && !flag.Hidden {
					add(dashes+flag.Name, flag.Help)
				}
			}
			if len(found) > 0 && at != root {
				break
			}
		}
	default:
		if at.Name == "help" {
			at = root
		}
		for _, child := range at.Children {
			if !child.Hidden {
				add(child.Name, child.Help)
			}
		}
		for _, arg := range at.Positional {
			for _, word := range strings.Split(arg.Enum, ",") {
				add(word, arg.Help)
			}
		}
	}
	return found
}

func childOf(at *kong.Node, word string) *kong.Node {
	for _, child := range at.Children {
		if child.Name == word {
			return child
		}
	}
	return nil
}

// flagsOf are the flags of a command and of those above it.
func flagsOf(at *kong.Node) (all []*kong.Flag) {
	for ; at != nil; at = at.Parent {
		all = append(all, at.Flags...)
	}
	return all
}

// takesValue returns the flag that a word is, if the next word is its value.
func takesValue(at *kong.Node, word string) *kong.Flag {
	name := strings.TrimLeft(word, "-")
	for _, flag := range flagsOf(at) {
		if (flag.Name == name || fmt.Sprintf("%c", flag.Short) == name) && !flag.IsBool() {
			return flag
		}
	}
	return nil
}

const (
	groupSettings = "Settings of the server:"
	groupPeople   = "For people:"
)

func isSetting(flag *kong.Flag) bool { return flag.Group != nil && flag.Group.Key == groupSettings }

// printHelp leaves the settings of the server out of the help of commands for people.
func printHelp(options kong.HelpOptions, line *kong.Context) error {
	if at := line.Selected(); at != nil && at.Group != nil && at.Group.Key == groupPeople {
		for _, flag := range line.Model.Flags {
			flag.Hidden = flag.Hidden || isSetting(flag)
		}
	}
	return kong.DefaultHelpPrinter(options, line)
}
