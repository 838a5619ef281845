# Embeds programs of dfc in a project built with GNU make.
#
#   include dfc.mk
#   $(eval $(call dfc_add_dataflow,APP,PROGRAM.dfl,FLAGS))
#
# APP is what the program calls itself, FLAGS go to `dfc compile` (-D width=100). Afterwards there are
#
#   $(APP_LIB)       the static library: let what includes APP.h, and what links, depend on it
#   $(APP_CPPFLAGS)  where APP.h is
#   $(APP_LDLIBS)    what to link with
#
# The library is built again when the program, a file that it imports or a C file that it names has changed.

DFC ?= dfc
DFC_BUILD ?= build

# The first goal stays what it would be without these rules.
define dfc_add_dataflow
dfc_goal := $$(.DEFAULT_GOAL)
$(1)_LIB := $$(DFC_BUILD)/$(1)/lib$(1).a
$(1)_CPPFLAGS := -I$$(DFC_BUILD)/$(1)/include
$(1)_LDLIBS := $$($(1)_LIB) -lm -pthread
$$($(1)_LIB): $(2)
	$$(DFC) compile $(2) --emit lib -o $$(DFC_BUILD)/$(1) $(3)
-include $$(DFC_BUILD)/$(1)/$(1).d
.DEFAULT_GOAL := $$(dfc_goal)
endef
