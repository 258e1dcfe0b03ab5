import FoundationEssentials

print(Data().count)
