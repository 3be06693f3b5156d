"""The rules of the house: what the compiler cannot hold. Run by Scripts/check-house."""
