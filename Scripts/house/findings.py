"""What a rule yields."""


def error(file, line, message):
    return ("error", file, line, message)


def warning(file, line, message):
    return ("warning", file, line, message)
