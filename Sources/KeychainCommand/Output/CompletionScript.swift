// SPDX-License-Identifier: MIT

/// The scripts that let a shell complete command lines; what is offered, the command itself says.
///
/// A name from the store is only ever data in them: it is neither expanded nor run, and is quoted where it is inserted.
enum CompletionScript {
    /// For bash 4.4 and later.
    static let bash = #"""
        # bash completion for keychainctl
        _keychainctl() {
            # The words as the command will get them: bash's own are cut at colons and equals signs too.
            local line=${COMP_LINE:0:COMP_POINT} word='' quote='' begun='' character index
            local -a words=()
            for ((index = 0; index < ${#line}; index++)); do
                character=${line:index:1}
                if [[ $quote && $character == "$quote" ]]; then
                    quote=''
                elif [[ $quote == "'" || ( $quote && $character != \\ ) ]]; then
                    word+=$character
                elif [[ $character == \\ ]]; then
                    index=$((index + 1)) word+=${line:index:1} begun=1
                elif [[ $character == [\'\"] ]]; then
                    quote=$character begun=1
                elif [[ $character == [[:blank:]] ]]; then
                    if [[ $begun ]]; then words+=("$word"); fi
                    word='' begun=''
                else
                    word+=$character begun=1
                fi
            done

            local kind='' candidate cut='' quoted
            COMPREPLY=()
            if [[ $COMP_WORDBREAKS == *:* && $word == *:* ]]; then cut=${word%"${word##*:}"}; fi
            if [[ $COMP_WORDBREAKS == *=* && ${word#"$cut"} == *=* ]]; then cut=${word%"${word##*=}"}; fi
            while IFS= read -r line; do
                if [[ ! $kind ]]; then
                    kind=$line
                    continue
                fi
                candidate=${line%%$'\t'*}
                if [[ $candidate == "$word"* ]]; then
                    if [[ $candidate == *[:=] ]]; then compopt -o nospace; fi
                    printf -v quoted %q "${candidate#"$cut"}"
                    COMPREPLY+=("$quoted")
                fi
            done < <(command keychainctl completion candidates -- "${words[@]:1}" "$word" 2>/dev/null </dev/null)
            if [[ $kind == files ]]; then compopt -o default; fi
        }
        complete -F _keychainctl keychainctl

        """#

    /// For zsh 5.
    static let zsh = #"""
        #compdef keychainctl
        # zsh completion for keychainctl
        _keychainctl() {
            local -a lines candidates descriptions open openDescriptions
            local line candidate
            lines=("${(@f)$(command keychainctl completion candidates -- "${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
            if [[ $lines[1] == files ]]; then
                _files
                return
            fi
            for line in "${(@)lines[2,-1]}"; do
                candidate=${line%%$'\t'*}
                if [[ $candidate == *[:=] ]]; then
                    open+=("$candidate")
                    openDescriptions+=("${line/$'\t'/  -- }")
                else
                    candidates+=("$candidate")
                    descriptions+=("${line/$'\t'/  -- }")
                fi
            done
            compadd -l -d descriptions -a candidates
            compadd -S '' -d openDescriptions -a open
        }
        if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _keychainctl "$@"; else compdef _keychainctl keychainctl; fi

        """#

    /// For fish 3.
    static let fish = #"""
        # fish completion for keychainctl
        function __keychainctl_candidates
            set -l words (commandline -opc)
            set -l word (commandline -ct)
            set -l lines (command keychainctl completion candidates -- $words[2..-1] "$word" 2>/dev/null </dev/null)
            if test "$lines[1]" = files
                __fish_complete_path "$word"
            else if set -q lines[2]
                printf '%s\n' $lines[2..-1]
            end
        end
        complete -c keychainctl -f -a '(__keychainctl_candidates)'

        """#
}
