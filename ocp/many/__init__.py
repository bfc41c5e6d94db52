"""Many solves of one problem: on the threads of this machine, and on any executor beyond it."""
