"""What does a hand file say, is it right, what record does it make?"""
