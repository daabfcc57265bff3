# $cur is the beginning of the word, $at the place of its option among COMP_WORDS. bash parts words at =
# (COMP_WORDBREAKS), so that --set model.norm=p comes as four.
# _nmt_reply KIND BEGINNING: fills COMPREPLY.
_nmt_reply() {
  case $1 in
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    setting) compopt -o nospace 2>/dev/null; mapfile -t COMPREPLY < <(compgen -S = -W "$_nmt_settings" -- "$2") ;;
    words) mapfile -t COMPREPLY < <(compgen -W "$3" -- "$2") ;;
  esac
}

_nmt() {
  local program=${1##*/} first=1 cur=${COMP_WORDS[COMP_CWORD]} at
  COMPREPLY=()
  if [[ $program == nmt ]]; then
    if ((COMP_CWORD == 1)); then
      _nmt_reply words "$cur" "$_nmt_commands help --help --version"
      return
    fi
    if [[ ${COMP_WORDS[1]} == help ]]; then
      ((COMP_CWORD == 2)) && _nmt_reply words "$cur" "$_nmt_commands"
      return
    fi
    program=nmt-${COMP_WORDS[1]} first=2
  fi

  # NAME=VALUE
  at=COMP_CWORD
  if [[ $cur == = ]]; then
    cur=
  elif ((COMP_CWORD > first)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    at=COMP_CWORD-1
  else
    at=
  fi
  if [[ -n $at ]]; then
    local name=${COMP_WORDS[at - 1]} kind
    if [[ $name == -* ]]; then
      kind=$(_nmt_value "$program" "$name")
      _nmt_reply "${kind%% *}" "$cur" "${kind#* }"
    elif [[ $(_nmt_value "$program" "${COMP_WORDS[at - 2]}") == setting ]]; then
      kind=$(_nmt_setting "$name")
      _nmt_reply "${kind%% *}" "$cur" "${kind#* }"
    fi
    return
  fi

  # The value of the option before, or one of several values of an option farther before.
  if [[ $cur != -* ]]; then
    for ((at = COMP_CWORD - 1; at >= first; --at)); do
      [[ ${COMP_WORDS[at]} == -* ]] && break
    done
    if ((at >= first)); then
      local value
      value=$(_nmt_value "$program" "${COMP_WORDS[at]}")
      if [[ -n $value ]] && { ((at == COMP_CWORD - 1)) || _nmt_takes_several "$program" "${COMP_WORDS[at]}"; }; then
        _nmt_reply "${value%% *}" "$cur" "${value#* }"
        return
      fi
    fi
    if [[ -n $cur ]] || _nmt_takes_files "$program"; then
      _nmt_takes_files "$program" && _nmt_reply file "$cur"
      return
    fi
  fi
  _nmt_reply words "$cur" "$(_nmt_options "$program")"
}
