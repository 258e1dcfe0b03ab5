print("0")
