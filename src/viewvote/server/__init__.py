"""The HTTP service and its page (extra `serve`): what `viewvote classify` answers, over HTTP."""
