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
