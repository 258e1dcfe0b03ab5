#if Configuration
public import Configuration
public import Preferences
#endif
