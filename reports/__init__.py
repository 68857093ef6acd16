"""What happened, in figures, sentences and pictures?"""
